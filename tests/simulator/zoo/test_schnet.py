"""SchNet's neighbours and packs, worked out by hand; its block as hydronet-gnn times it."""

import jax.numpy as jnp
import numpy as np
import pytest

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.graph.graph import Kind, Pass
from simulator.graph.trace import trace
from simulator.zoo.opening import open_zoo

SMALL = {"nodes": 4, "graphs": 2, "neighbours": 2, "features": 4, "interactions": 1, "gaussians": 3}


def energies(pos: np.ndarray, ends: list[int]) -> np.ndarray:
    program, _ = open_zoo("zoo:schnet", batch=1, dims=SMALL)
    inputs = {
        "z": jnp.ones((1, 4), jnp.int32),
        "pos": jnp.asarray(pos, jnp.float32)[None],
        "ends": jnp.asarray([ends], jnp.int32),
    }
    return np.asarray(program.call(program.load_weights(), inputs)["energy"])[0]


def test_molecules_of_a_pack_do_not_see_each_other() -> None:
    apart = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]], float)
    near, far = energies(apart, [2, 2]), energies(apart + np.array([[0], [0], [9], [9]]), [2, 2])
    np.testing.assert_allclose(near, far, rtol=1e-4)
    assert near[0] == pytest.approx(near[1], rel=1e-5), "two molecules of one shape have one energy"


def test_an_atom_beyond_the_cutoff_counts_for_nothing() -> None:
    line = np.array([[0, 0, 0], [1, 0, 0], [20, 0, 0], [40, 0, 0]], float)
    np.testing.assert_allclose(energies(line, [4, 4])[0], energies(line + np.array([[0], [0], [0], [30]]), [4, 4])[0])


def test_edges_of_a_batch_are_the_nearest_of_every_atom() -> None:
    program, _ = open_zoo("zoo:schnet", batch=16, dims={})
    graph = trace(program, RunConfig(batch=16, precision="fp32", optimiser="adam"))
    rows = [graph.ops.attributes[i] for i in range(len(graph.ops)) if graph.ops.kind[i] == Kind.GATHER]
    assert sum(a["rows"] == 16 * 36 * 28 and a["row_elements"] == 100 for a in rows) == 8, "four forwards and backwards"
    kept = next(graph.ops.attributes[i] for i in range(len(graph.ops)) if graph.ops.kind[i] == Kind.SORT)
    assert kept == {"rows": 576, "columns": 576, "kept": 28}
    assert Kind.FALLBACK not in graph.ops.kind
    early = {p for p, s in zip(graph.ops.pass_.tolist(), graph.ops.source, strict=True) if s.startswith("neighbours")}
    assert early == {Pass.FORWARD}, "positions are not trained: their distances have no backward pass"


def test_a_block_in_a_loop_carries_only_what_it_makes() -> None:
    program, _ = open_zoo("zoo:schnet-block", batch=1, dims={"inputs": 64, "features": 16, "outputs": 128})
    graph = trace(program, RunConfig(task="infer", batch=1))
    carried = [graph.ops.attributes[i]["bytes"] for i, p in enumerate(graph.ops.primitive) if p == "carry"]
    assert len(carried) == 1
    assert carried[0] in (64 * 16 * 2, 64 * 16 * 4)


@pytest.mark.parametrize("dims", [{"features": 1}, {"gaussians": 1}, {"nodes": 5, "neighbours": 6}])
def test_sizes_that_make_no_model_are_refused(dims: dict[str, int]) -> None:
    with pytest.raises(SimulatorError) as refusal:
        open_zoo("zoo:schnet", batch=1, dims=dims)
    assert refusal.value.code == "config.invalid"
