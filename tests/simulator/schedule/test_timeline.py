"""Sync, collectives and host transfers by hand; the time line of a small step adds up on every tile."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import RunConfig
from simulator.graph.graph import Graph, Pass
from simulator.laying import lay
from simulator.machines.constants import NOMINAL
from simulator.machines.ipu import ipu
from simulator.schedule.outside import external_sync
from simulator.schedule.step import timeline
from simulator.schedule.timeline import Timeline
from tests.simulator.handmade import dense_step

CHIP = ipu("GC200")


def line_of(graph: Graph, system: str = "pod4") -> Timeline:
    laid = lay(graph, RunConfig(system=system, task="train" if graph.training else "infer"))
    return timeline(laid.planned, laid.priced(NOMINAL), 0, laid.ipu, NOMINAL)


@pytest.mark.parametrize(("ipus", "cycles"), [(1, 40), (4, 80), (16, 199), (64, 676)])
def test_external_sync_takes_15_ns_a_hop_there_and_back(ipus: int, cycles: int) -> None:
    assert external_sync(ipus, CHIP) == cycles


def test_a_sync_beyond_a_domain_climbs_a_tree_of_gateways() -> None:
    for ipus, hops in ((128, 1), (256, 2), (65_536, 10)):
        assert external_sync(ipus, CHIP) == pytest.approx(676 + 2 * hops * 2e-6 * CHIP.clock_hz, abs=1)


@pytest.mark.parametrize("training", [True, False])
def test_every_tile_spends_the_whole_step(training: bool) -> None:
    line = line_of(dense_step(training=training))
    tiles = line.tiles
    assert (tiles.compute + tiles.exchange + tiles.sync + tiles.idle == line.total).all()
    assert int(tiles.idle.min()) >= 0
    assert int(line.operators.sum()) + sum(e.total for e in line.outside) == line.total


def test_tiles_differ() -> None:
    tiles = line_of(dense_step()).tiles
    assert len(np.unique(tiles.compute)) > 2
    assert len(np.unique(tiles.idle)) > 2


def test_passes_cover_the_step() -> None:
    graph = dense_step()
    line = line_of(graph)
    assert sum(line.cycles_of_pass(graph, p) for p in Pass) == line.total


def test_repeats_multiply_an_operator() -> None:
    graph = dense_step(training=False)
    looped = replace(graph, ops=replace(graph.ops, repeats=np.array([7, 1], dtype=np.int64)))
    once, often = line_of(graph), line_of(looped)
    assert often.operators.tolist() == [once.operators[0] * 7, once.operators[1]]
    assert (often.tiles.compute + often.tiles.exchange + often.tiles.sync + often.tiles.idle == often.total).all()
