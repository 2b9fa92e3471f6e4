"""Roofs against published peaks, and points worked out by hand."""

import pytest

from simulator import RunConfig
from simulator.machines.ipu import ipu
from simulator.report.build import build
from simulator.report.roofline import peaks, roofline
from tests.simulator.report.made import dense


@pytest.mark.parametrize(
    ("chip", "precision", "partials", "teraflops"),
    [
        ("GC200", "fp16", "fp16", 249.7),
        ("GC200", "fp32", "fp32", 62.4),
        ("Bow", "fp16", "fp16", 348.6),
        ("C600", "fp8", "fp16", 560),
    ],
)
def test_the_matrix_peak_is_the_published_one(chip: str, precision: str, partials: str, teraflops: float) -> None:
    found = peaks(RunConfig(task="infer", precision=precision, partials=partials), ipu(chip))
    assert found["matrix_flops"] / 1e12 == pytest.approx(teraflops, rel=2e-3)


def test_memory_and_exchange_peaks_are_the_published_ones() -> None:
    found = peaks(RunConfig(), ipu("GC200"))
    assert found["sram_bytes"] / 1e12 == pytest.approx(47, rel=0.01)
    assert found["exchange_bytes"] / 1e12 == pytest.approx(7.8, rel=0.01)


def test_single_partials_halve_the_roof_of_half() -> None:
    full, mixed = (peaks(RunConfig(precision="fp16", partials=p), ipu("GC200")) for p in ("fp16", "fp32"))
    assert full["matrix_flops"] == 2 * mixed["matrix_flops"]


def test_a_point_is_under_the_lower_of_its_roofs() -> None:
    row = {
        "name": "fc", "pass": "forward", "kind": "matmul", "flops": 1000, "seconds": 2.0, "bytes": 100,
        "exchanged_bytes": 50,
    }  # fmt: skip
    roofs = {"matrix_flops": 5000.0, "vector_flops": 10.0, "sram_bytes": 200.0, "exchange_bytes": 300.0}
    (point,) = roofline([row], roofs)["points"]
    assert point["flops_per_second"] == 500
    assert (point["flops_per_byte"], point["flops_per_exchanged_byte"]) == (10, 20)
    assert (point["roof"], point["share_of_roof"], point["share_of_peak"]) == ("sram", 0.25, 0.1)


def test_every_operator_of_a_step_is_under_its_roof() -> None:
    found = build(dense())["roofline"]
    assert found["points"]
    assert all(0 < point["share_of_peak"] <= 1 for point in found["points"])
