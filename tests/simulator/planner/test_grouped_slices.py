"""Lookups within groups: local, exact, and far cheaper than lookups in the whole table."""

import jax.numpy as jnp
import numpy as np
import pytest

from simulator.graph.classify import describe
from simulator.graph.graph import Kind
from simulator.graph.walk import aval_of
from simulator.machines.ipu import ipu
from simulator.planner.grouped_slices import plan_grouped
from simulator.planner.slices import Slices, plan_gather

CHIP = ipu("C600")


@pytest.mark.parametrize("groups", [1, 3, 700, 1472, 5000])
@pytest.mark.parametrize("update", [False, True])
def test_every_element_is_accounted_for(groups: int, update: bool) -> None:
    found = plan_grouped(groups, 40, 3, 64, 2, update, CHIP)
    assert int(found.outputs.sum()) == groups * (64 if update else 40) * 3
    assert found.received == found.delivered
    assert found.sent <= found.received
    assert int(found.compute.max()) > 0


def test_a_group_on_each_tile_by_hand() -> None:
    # 40 lookups over six workers are 7 each: 19 cycles and two for 4 bytes of two half elements
    found = plan_grouped(1472, 40, 2, 64, 2, False, CHIP)
    assert set(found.compute.tolist()) == {6 * (30 + 7 * (19 + 2))}
    twice = plan_grouped(2 * 1472, 40, 2, 64, 2, False, CHIP)
    assert int(twice.compute.max()) == 2 * int(found.compute.max())


def test_few_groups_of_long_rows_are_cut_across_the_rows() -> None:
    # two sequences of 512 tokens, 76 of each picked: no tile needs a whole table of 1 MiB
    for update in (False, True):
        found = plan_grouped(2, 76, 1024, 512, 2, update, CHIP)
        assert int(found.temporary.max()) < 16_384
        assert found.received == found.delivered


def test_groups_are_cheaper_than_one_table_for_all() -> None:
    local = plan_grouped(4608, 384, 1, 1024, 2, False, CHIP)
    everywhere = plan_gather(Slices(4608 * 384, 1, 4608 * 1024, 2, False, False), CHIP)
    assert 4 * local.cycles < everywhere.cycles


def test_lookups_along_the_last_axis_are_groups() -> None:
    import jax

    table, index = np.zeros((5, 6, 8), np.float32), np.zeros((5, 6, 3), np.int32)
    jaxpr = jax.make_jaxpr(lambda t, i: jnp.take_along_axis(t, i, -1, mode="clip"))(table, index)
    inner = [e for e in jaxpr.jaxpr.eqns if e.primitive.name in ("jit", "pjit")]
    equations = [*jaxpr.jaxpr.eqns, *(e for call in inner for e in call.params["jaxpr"].jaxpr.eqns)]
    gather = next(e for e in equations if e.primitive.name == "gather")
    inputs, outputs = ([aval_of(v) for v in side] for side in (gather.invars, gather.outvars))
    found = describe("gather", gather.params, inputs, outputs)
    assert found.kind == Kind.GATHER
    assert found.attributes["groups"] == 30
    assert (found.attributes["rows"], found.attributes["table_rows"]) == (90, 240)
