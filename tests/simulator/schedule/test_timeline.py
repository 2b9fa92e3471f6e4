"""Sync, collectives and host transfers by hand; the time line of a small step adds up on every tile."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import RunConfig
from simulator.graph.graph import Graph, Pass
from simulator.laying import lay
from simulator.machines.constants import NOMINAL
from simulator.machines.ipu import ipu
from simulator.parallel.replicas import Parallel, lay_out
from simulator.schedule.host import host_bytes, host_transfer
from simulator.schedule.outside import external_sync
from simulator.schedule.step import timeline
from simulator.schedule.timeline import Timeline
from tests.simulator.handmade import BATCH, CLASSES, WIDTH, dense_step

CHIP = ipu("GC200")


def parallel(system: str, ipus: int | None = None) -> Parallel:
    return lay_out(RunConfig(system=system, ipus=ipus), BATCH)


def line_of(graph: Graph, system: str = "pod4") -> Timeline:
    laid = lay(graph, RunConfig(system=system, task="train" if graph.training else "infer"))
    return timeline(laid.planned, laid.priced(NOMINAL), 0, laid.ipu, NOMINAL)


@pytest.mark.parametrize(("ipus", "cycles"), [(1, 40), (4, 80), (16, 199), (64, 676)])
def test_external_sync_takes_15_ns_a_hop_there_and_back(ipus: int, cycles: int) -> None:
    assert external_sync(ipus, CHIP) == cycles


def test_the_ipus_of_a_machine_share_its_host_link() -> None:
    alone, four = (host_transfer("in", 10**6, parallel("pod4", n), CHIP) for n in (1, 4))
    assert alone.transfer == pytest.approx((1e6 / 25e9 + 10e-6) * CHIP.clock_hz, abs=1)
    assert four.transfer == pytest.approx((4e6 / 25e9 + 10e-6) * CHIP.clock_hz, abs=1)


def test_only_inputs_and_outputs_meet_the_host() -> None:
    assert host_bytes(dense_step()) == (4 * BATCH * WIDTH, 4 * BATCH * CLASSES)


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
