"""Kernels of the zoo: they compute what they say, and a trip costs what the plan says."""

import jax.numpy as jnp
import numpy as np
import pytest

from simulator.composites.stencils import DIFFUSION, sweep
from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.graph.graph import Kind
from simulator.graph.trace import trace
from simulator.zoo.opening import open_zoo


def outputs(name: str, dims: dict[str, int], **inputs: np.ndarray) -> float:
    program, _ = open_zoo(name, batch=1, dims=dims)
    values = {key: jnp.asarray(value)[None] for key, value in inputs.items()}
    return float(program.call({}, values)["sum"])


def test_a_gather_picks_rows() -> None:
    table, index = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([3, 0, 3], np.int32)
    found = outputs("zoo:gather", {"inputs": 4, "features": 3, "outputs": 3, "repeats": 2}, table=table, index=index)
    assert found == table[index].sum()


def test_a_scatter_adds_rows_once_a_trip() -> None:
    rows, index = np.ones((5, 2), np.float32), np.array([[0], [1], [1], [2], [0]], np.int32)
    dims = {"inputs": 5, "features": 2, "outputs": 3, "repeats": 4}
    assert outputs("zoo:scatter-add", dims, rows=rows, index=index) == 10.0


def test_a_product_multiplies() -> None:
    left, right = np.ones((2, 3), np.float32), np.full((3, 4), 2.0, np.float32)
    assert outputs("zoo:matmul", {"m": 2, "k": 3, "n": 4, "repeats": 3}, left=left, right=right) == 48.0


def test_a_cell_of_heat_spreads_to_its_neighbours() -> None:
    u = np.zeros((5, 5), np.float32)
    u[2, 2] = 1.0
    found = np.asarray(sweep("heat2d", 1, lanes=1, assembly=False, pieces=1)(u))
    assert found[2, 2] == pytest.approx(1 - 4 * DIFFUSION)
    assert found[1, 2] == found[2, 1] == found[3, 2] == found[2, 3] == pytest.approx(DIFFUSION)
    assert found[1, 1] == 0


def test_a_blur_is_the_binomial_filter() -> None:
    u = np.zeros((5, 5, 2), np.float32)
    u[2, 2, 1] = 16.0
    found = np.asarray(sweep("blur", 1, lanes=1, assembly=False, pieces=1)(u))
    assert found[1:4, 1:4, 1].tolist() == [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    assert not found[..., 0].any()


def test_heat_in_three_dimensions_and_the_triad() -> None:
    solid = outputs(
        "zoo:stencil3d", {"width": 4, "height": 4, "depth": 4, "steps": 1, "pieces": 1}, u=np.ones((4,) * 3)
    )
    assert solid == pytest.approx(64 - DIFFUSION * 6 * 16, rel=1e-5), "each cell of a face loses to the cold outside"
    b, c = np.ones(6, np.float32), np.full(6, 2.0, np.float32)
    assert outputs("zoo:stream-triad", {"elements": 6, "steps": 2}, b=b, c=c) == 6 * 7


@pytest.mark.parametrize(
    ("name", "kind", "attributes"),
    [
        ("zoo:gather", Kind.GATHER, {"rows": 16_384, "row_elements": 128, "table_rows": 4096}),
        ("zoo:scatter-add", Kind.SCATTER, {"rows": 16_384, "row_elements": 128, "table_rows": 4096}),
        ("zoo:matmul", Kind.MATMUL, {"m": 1024, "k": 1024, "n": 1024}),
    ],
)
def test_a_trip_is_the_kernel_a_count_and_a_copy(name: str, kind: Kind, attributes: dict[str, int]) -> None:
    program, _ = open_zoo(name, batch=1, dims={})
    graph = trace(program, RunConfig(task="infer", batch=1))
    inside = [i for i in range(len(graph.ops)) if graph.ops.repeats[i] == 128]
    assert [graph.ops.primitive[i] for i in inside][1:] == ["trip", "carry"]
    assert graph.ops.kind[inside[0]] == kind
    assert attributes.items() <= graph.ops.attributes[inside[0]].items()


def test_a_stencil_is_one_operator_for_all_its_steps() -> None:
    program, _ = open_zoo("zoo:stencil2d", batch=1, dims={"pieces": 16, "steps": 7})
    graph = trace(program, RunConfig(task="infer", batch=1))
    index = graph.ops.kind.tolist().index(Kind.STENCIL)
    found = graph.ops.attributes[index]
    assert (found["mesh"], found["steps"], found["pieces"], found["op"]) == ((500, 8000), 7, 16, "heat2d")


def test_more_pieces_than_rows_are_refused() -> None:
    with pytest.raises(SimulatorError, match="no more than the 4"):
        open_zoo("zoo:stencil2d", batch=1, dims={"height": 4, "width": 4, "pieces": 5})
