"""Bytes of tensors on tiles: exact sums, lifetimes, the fullest tile, and what is said when it does not fit."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from simulator.graph.builder import GraphBuilder
from simulator.graph.classify import Aval, Described
from simulator.graph.graph import Graph, Kind, Pass, Role
from simulator.machines.ipu import ipu
from simulator.memory.fit import kind_of, overflow, top_tensors
from simulator.memory.lifetimes import ALWAYS_LIVE, CATEGORIES, lifetimes
from simulator.memory.tilemap import MemoryMap, memory_map
from simulator.planner.assign import Options, assign
from tests.simulator.handmade import BATCH, CLASSES, WIDTH, dense_step
from tests.simulator.layers import laid

CHIP = ipu("GC200")


def mapped(graph: Graph) -> MemoryMap:
    return memory_map(graph, assign(graph, CHIP, Options(0.6, False)), CHIP)


def test_lifetimes_run_from_the_writer_to_the_last_reader() -> None:
    spans = lifetimes(dense_step())
    told = {
        int(root): (int(a), int(b), name)
        for root, a, b, name in zip(spans.root, spans.first, spans.last, spans.category, strict=True)
    }
    assert told == {
        0: (0, 2, "stream_buffers"),  # the input, read again by the gradient
        1: (0, 3, "weights"),
        2: (0, 1, "activations"),
        3: (1, 3, "stream_buffers"),  # the output leaves at the end
        4: (2, 3, "gradients"),
    }


def test_what_updates_a_weight_lies_like_it() -> None:
    found = laid(optimiser="adam", accumulation=4)
    part = found.planned[0]
    tensors, layouts = part.part.graph.tensors, part.assignment.layouts
    where = {(tensors.name[root], int(tensors.role[root])): layout for root, layout in layouts.items()}
    weight = next(name for name, role in where if role == Role.ACCUMULATOR)
    assert where[weight, int(Role.ACCUMULATOR)] == where[weight, int(Role.WEIGHT)]
    assert where[f"{weight}.second", int(Role.OPTIMISER_STATE)] == where[weight, int(Role.WEIGHT)]


def test_an_update_in_place_takes_no_second_copy() -> None:
    memory = mapped(dense_step())
    assert int(memory.by_tile["weights"].sum()) == 4 * WIDTH * CLASSES


def test_every_category_is_there_and_sums_to_its_tensors() -> None:
    graph = dense_step()
    memory = mapped(graph)
    assert tuple(memory.by_tile) == CATEGORIES
    assert memory.live_bytes == tuple(int(graph.tensors.bytes[root]) for root, _ in memory.live)
    for category in set(dict(memory.live).values()):
        wanted = sum(int(graph.tensors.bytes[root]) for root, name in memory.live if name == category)
        assert int(memory.by_tile[category].sum()) == wanted
    assert memory.always_live == sum(int(memory.by_tile[name].sum()) for name in ALWAYS_LIVE)
    assert int(memory.tile_bytes.sum()) == memory.always_live + int(memory.not_always_live[memory.worst_step])


def test_the_worst_tile_is_the_fullest_of_all_steps() -> None:
    memory = mapped(dense_step())
    assert int(memory.tile_bytes.argmax()) == memory.worst_tile
    assert len(np.unique(memory.tile_bytes)) > 2, "tiles differ"


def test_a_larger_batch_needs_more_memory() -> None:
    small, large = (int(mapped(dense_step(batch)).tile_bytes.sum()) for batch in (BATCH, 64 * BATCH))
    assert large > small


def test_a_small_step_fits() -> None:
    graph = dense_step()
    assert overflow(mapped(graph), graph, CHIP) is None


def test_what_does_not_fit_names_tile_step_and_tensors() -> None:
    graph = dense_step()
    memory = mapped(graph)
    small = replace(CHIP, bytes_per_tile=int(memory.tile_bytes.max()) - 100)
    over = overflow(memory, graph, small)
    assert over is not None
    assert (over.tile, over.step, over.over_by, over.region) == (memory.worst_tile, memory.worst_step, 100, "memory")
    used, tile = int(memory.tile_bytes.max()), memory.worst_tile
    message = f"Out of memory on tile {tile}: {used} bytes used but tiles only have {used - 100} bytes of memory"
    assert over.to_dict()["poplar_message"] == message
    assert over.tensors == top_tensors(memory, graph)
    assert [t["bytes"] for t in over.tensors] == sorted((t["bytes"] for t in over.tensors), reverse=True)


def test_code_must_lie_where_instructions_are_fetched() -> None:
    graph = dense_step()
    memory = mapped(graph)
    crowded = {**memory.by_tile, "vertex_code": memory.by_tile["vertex_code"] + 220_000}
    over = overflow(replace(memory, by_tile=crowded), graph, CHIP)
    assert over is not None
    assert over.region == "code"
    assert over.over_by > 0


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("exchange_code", "code"),
        ("temporaries", "exchange buffer"),
        ("stream_buffers", "stream"),
        ("stash", "data"),
        ("weights", "data"),
    ],
)
def test_what_takes_most_of_the_tile_names_the_kind(category: str, kind: str) -> None:
    memory = mapped(dense_step())
    crowded = {**memory.by_tile, category: memory.by_tile[category] + 500_000}
    assert kind_of(replace(memory, by_tile=crowded)) == kind


@pytest.mark.parametrize("category", ["vertex_code", "stacks", "control_code", "vertex_state"])
def test_the_program_itself_takes_memory(category: str) -> None:
    assert int(mapped(dense_step()).by_tile[category].sum()) > 0


def test_equal_operators_share_their_code() -> None:
    one, graph = mapped(dense_step(training=False)), dense_step(training=False)
    ops = graph.ops
    twice = replace(
        graph,
        ops=replace(
            ops,
            kind=np.concatenate([ops.kind[:1], ops.kind]),
            pass_=np.concatenate([ops.pass_[:1], ops.pass_]),
            repeats=np.ones(3, dtype=np.int64),
            source=("fc0", *ops.source),
            primitive=("dot_general", *ops.primitive),
            attributes=(ops.attributes[0], *ops.attributes),
            inputs=((0, 4), *ops.inputs),
            outputs=((5,), *ops.outputs),
        ),
        tensors=replace(
            graph.tensors,
            bytes=np.append(graph.tensors.bytes, graph.tensors.bytes[[1, 2]]),
            role=np.append(graph.tensors.role, graph.tensors.role[[1, 2]]),
            alias_of=np.append(graph.tensors.alias_of, [-1, -1]),
            shape=(*graph.tensors.shape, graph.tensors.shape[1], graph.tensors.shape[2]),
            dtype=("float32",) * 6,
            name=(*graph.tensors.name, "w0", ""),
        ),
    )
    assert int(mapped(twice).by_tile["exchange_code"].sum()) == int(one.by_tile["exchange_code"].sum())


def chain(places: dict[int, str]) -> dict[int, tuple[int, int]]:
    """Spans of input -> scaled -> scaled again -> output, three operators of one size."""
    builder = GraphBuilder()
    aval = Aval((64,), "float16", 2)
    found = [builder.tensor(aval, role) for role in (Role.INPUT, Role.ACTIVATION, Role.ACTIVATION, Role.OUTPUT)]
    for read, written in pairwise(found):
        attributes = {"function": "mul", "functions": ("mul",), "depth": 1, "elements": 64, "arity": 1}
        builder.operator(
            Described(Kind.ELEMENTWISE, attributes), "mul", pass_=Pass.FORWARD, source="chain", inputs=(read,),
            outputs=(written,), repeats=1,
        )  # fmt: skip
    spans = lifetimes(builder.freeze(name="chain", batch=1, training=False, gradients=()), places=places)
    return {int(r): (int(a), int(b)) for r, a, b in zip(spans.root, spans.first, spans.last, strict=True)}


def test_elementwise_operators_write_over_what_they_are_last_to_read() -> None:
    assert chain(dict.fromkeys(range(4), "here"))[1] == (0, 0), "the second operator takes its place"
    assert chain({0: "here", 1: "here", 2: "there", 3: "there"})[1] == (0, 1), "elsewhere nothing can be taken"
    assert chain(dict.fromkeys(range(4), "here"))[0] == (0, 0), "what the host gives has a place of its own"
