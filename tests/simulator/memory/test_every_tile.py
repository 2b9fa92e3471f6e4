"""Every tile of every IPU, counted the slow way: step by step from lifetimes and layouts, nothing left out."""

from functools import cache

import numpy as np
import pytest

from simulator import RunConfig
from simulator.laying import Laid, lay
from simulator.memory.fit import CODE, overflow
from simulator.memory.lifetimes import CATEGORIES, lifetimes
from simulator.memory.of_ipu import memory_of
from simulator.memory.resident import resident_bytes
from simulator.memory.stash import held
from simulator.pipeline import graph_of, open_model
from simulator.planner.shares import proportional, rolled
from tests.simulator.layers import config_of, laid

PIPELINE = {"splits": ["layer1.", "layer2.", "layer3."], "accumulation": 16, "recompute": "stages", "optimiser": "lamb"}
RUNS = {
    "mnist": ("zoo:mnist", {"batch": 32, "optimiser": "adam", "precision": "fp32"}),
    "mnist, two replicas": ("zoo:mnist", {"batch": 32, "ipus": 2, "accumulation": 2, "shard_optimiser": True}),
    "layers, pipelined": ("", PIPELINE),
    "lstm, inference": ("zoo:lstm", {"batch": 4, "task": "infer"}),
}


@cache
def run(name: str) -> tuple[Laid, RunConfig]:
    model, settings = RUNS[name]
    if not model:
        return laid(**settings), config_of(**settings)
    config = RunConfig.from_dict({"system": "pod4", "ipus": 1, **settings})
    return lay(graph_of(open_model(model, config)[0], config), config), config


def counted(found: Laid, config: RunConfig, place: int) -> tuple[int, int, int]:
    """(bytes of the fullest tile at its fullest step, that step, bytes over all tiles and steps)."""
    part, assignment = found.planned[place].part, found.planned[place].assignment
    kept = held(part, found.parallel, config)
    spans = lifetimes(part.graph, kept, assignment.layouts)
    fixed = np.sum(list(resident_bytes(assignment, found.ipu).values()), axis=0)
    assert not kept.passing
    most, worst, total = -1, -1, 0
    for step, plan in enumerate(assignment.plans):
        now = fixed + rolled(plan.temporary, assignment.starts[step])
        for root, copies, first, last in zip(spans.root, spans.copies, spans.first, spans.last, strict=True):
            layout = assignment.layouts.get(int(root))
            if layout is not None and first <= step <= last:
                whole = proportional(int(part.graph.tensors.bytes[root]), layout.spread.elements)
                now = now + rolled(whole, layout.start) * copies
        total += int(now.sum())
        if int(now.max()) > most:
            most, worst = int(now.max()), step
    return most, worst, total


@pytest.mark.parametrize("name", RUNS)
def test_the_sweep_finds_what_counting_every_tile_at_every_step_finds(name: str) -> None:
    found, config = run(name)
    for place, each in enumerate(found.planned):
        memory = memory_of(each.part, each.assignment, found.parallel, config, found.ipu)
        most, worst, total = counted(found, config, place)
        assert (int(memory.tile_bytes.max()), memory.worst_step) == (most, worst)
        assert int(memory.tile_bytes[memory.worst_tile]) == most
        steps = len(each.assignment.plans)
        assert memory.always_live * steps + int(memory.not_always_live.sum()) == total


@pytest.mark.parametrize("name", RUNS)
def test_categories_sum_to_each_tile_and_are_never_negative(name: str) -> None:
    found, config = run(name)
    for each in found.planned:
        memory = memory_of(each.part, each.assignment, found.parallel, config, found.ipu)
        columns = np.array([memory.by_tile[category] for category in CATEGORIES])
        assert columns.shape == (len(CATEGORIES), found.ipu.tiles)
        assert (columns >= 0).all()
        assert np.array_equal(columns.sum(axis=0), memory.tile_bytes)
        listed = dict.fromkeys(CATEGORIES, 0)
        for (_, category), amount in zip(memory.live, memory.live_bytes, strict=True):
            listed[category] += amount
        for category in ("weights", "optimiser_state", "accumulators", "constants", "activations", "gradients"):
            assert listed[category] == int(memory.by_tile[category].sum())


@pytest.mark.parametrize("name", RUNS)
def test_code_lies_in_the_first_region_of_every_tile_or_is_refused(name: str) -> None:
    found, config = run(name)
    region = found.ipu.whole("tile.standard_region")
    assert region < found.ipu.bytes_per_tile
    for each in found.planned:
        memory = memory_of(each.part, each.assignment, found.parallel, config, found.ipu)
        code = np.sum([memory.by_tile[category] for category in CODE], axis=0)
        assert overflow(memory, each.part.graph, found.ipu) is None
        assert (code > 0).all(), "the run-time is on every tile"
        assert (code <= region).all()
        short = found.parallel.system.variant({"tile.standard_region": int(code.max()) - 1})
        over = overflow(memory, each.part.graph, short)
        assert over is not None
        assert (over.region, over.over_by, over.tile) == ("code", 1, int(np.argmax(code)))
