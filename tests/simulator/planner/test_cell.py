"""Cells of recurrent layers: PopLibs' supersteps counted by hand, and what arrives for each element of the state."""

from __future__ import annotations

import pytest

from simulator.composites import recurrent_cells
from simulator.composites.catalogue import COMPOSITES
from simulator.machines.ipu import ipu
from simulator.planner.cell import CELLS, plan_cell
from simulator.planner.layout import linear

IPU = ipu("GC200")
STATE = linear(32 * 512, 2, IPU)


@pytest.mark.parametrize(("name", "count"), [("lstm", 6), ("lstm_backward", 6), ("gru", 8), ("rnn", 2)])
def test_supersteps(name: str, count: int) -> None:
    assert plan_cell(name, "float16", 2, STATE, IPU).superstep_count == count


def test_lstm_receives_units_of_product_and_projection() -> None:
    plan = plan_cell("lstm", "float16", 2, STATE, IPU)
    assert plan.received == plan.delivered == 32 * 512 * 2 * 8


def test_four_times_the_state_takes_at_most_four_times_as_long_and_longer() -> None:
    once = plan_cell("lstm", "float16", 2, linear(32 * 512 * 8, 2, IPU), IPU)  # enough for every tile
    four = plan_cell("lstm", "float16", 2, linear(4 * 32 * 512 * 8, 2, IPU), IPU)
    assert once.cycles < four.cycles <= 4 * once.cycles


def test_every_cell_of_the_trace_has_a_plan() -> None:
    named = {c.describe([(2, 3)] * 3)["name"] for c in COMPOSITES.values() if c.kind == "CELL"}
    assert named == set(CELLS)
    cells = [name for name in dir(recurrent_cells) if name.endswith(("_cell", "_cell_backward")) and name[0] != "_"]
    assert len(cells) == 6
    assert set(cells) <= set(COMPOSITES)
