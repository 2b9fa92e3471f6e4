"""Replicas are counts: a system of 65,536 IPUs is as much work to simulate as a POD64. Work is counted, not timed."""

import sys
from typing import Any

from tests.simulator.layers import laid, parts


def calls_of(**settings: Any) -> int:
    """Calls of Python functions and builtins that laying out, planning, scheduling and allocating take."""
    counted = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        parts(**settings)
    finally:
        sys.setprofile(None)
    return counted


def test_65536_ipus_are_as_much_work_as_64() -> None:
    settings = {"splits": ["layer2."], "accumulation": 8, "shard_optimiser": True}
    parts(system="pod64", **settings)  # plans are remembered from here on
    small, large = calls_of(system="pod64", **settings), calls_of(system="pod65536", **settings)
    assert large < 1.1 * small


def test_no_array_is_as_long_as_the_system() -> None:
    found = parts(system="pod65536", splits=["layer2."], accumulation=8)
    assert found.parallel.replicas == 32_768
    assert len(found.classes) == 2
    arrays = [each.timeline.tiles.compute.size for each in found.classes]
    assert set(arrays) == {1472}
    assert len(laid(system="pod65536", splits=["layer2."], accumulation=8).planned) == 2


def test_a_larger_system_is_never_faster_for_the_same_work_of_a_replica() -> None:
    steps = [parts(system=system).step_cycles for system in ("pod4", "pod16", "pod64", "pod128", "pod256", "pod65536")]
    assert steps == sorted(steps)
