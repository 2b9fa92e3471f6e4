"""Fuses element-wise chains, as far as a framework does: legal, and done in one sweep. It prices nothing."""

from __future__ import annotations

from collections import defaultdict

from simulator.graph.builder import GraphBuilder
from simulator.graph.classify import costliest
from simulator.graph.graph import Kind, Pass, Role

CHEAP = frozenset({"convert_element_type", "mul", "div", "neg", "square"})  # each a pass of one codelet or less
NARROWED = "narrowed"  # to 8 bits, by a cast with a scale of its own: generated codelets know no 8-bit floats
LEVELS = ("none", "node", "wide")


def fuse(builder: GraphBuilder, keep: set[int], level: str = "node") -> None:
    """Merge in place. ``keep`` are roots that leave the step and so must stay written.

    ``level`` "none": every primitive writes its result; "node": chains within one node of the model; "wide": across
    nodes, and a normalisation with given statistics becomes part of the convolution before it.
    A producer moves down to its first reader when both are element-wise over as many elements; it keeps an output of
    its own only if something later reads it (typically the backward pass).
    """
    if level == "none":
        return
    uses = _uses(builder)
    merged_into: dict[int, int] = _folded(builder, uses, keep) if level == "wide" else {}
    merged_into |= _within_readers(builder, uses, keep)
    for index in range(len(builder.kind)):
        if builder.kind[index] == Kind.ELEMENTWISE:
            while (producer := _next_producer(builder, index, uses, merged_into, level)) is not None:
                _merge(builder, producer, index, uses, keep)
                merged_into[producer] = index
    _drop_operators(builder, set(merged_into))


def _folded(builder: GraphBuilder, uses: dict[int, set[int]], keep: set[int]) -> dict[int, int]:
    """Norms with given statistics whose scale and shift a convolution takes into its weights: norm -> convolution."""
    found = {}
    for index in range(len(builder.kind)):
        if builder.attributes[index].get("name") != "batch_norm_inference":
            continue
        data = builder.root(builder.inputs[index][0])
        producer = builder.producer.get(data)
        if producer is None or builder.kind[producer] != Kind.CONV or uses[data] != {index} or data in keep:
            continue
        for tensor in builder.inputs[index][1:]:
            uses[builder.root(tensor)].discard(index)
        builder.outputs[producer] = builder.outputs[index]
        for tensor in builder.outputs[index]:
            builder.producer[tensor] = producer
        found[index] = producer
    return found


def _within_readers(builder: GraphBuilder, uses: dict[int, set[int]], keep: set[int]) -> dict[int, int]:
    """Conversions and scalings of an update that each reader does itself, and squares that a sum takes: gone -> to.

    Single-precision copies of weights and gradients are then never stored: codelets of updates read halves and take a
    scale, and popops::reduce sums squares (SQUARE_ADD).
    """
    found: dict[int, int] = {}
    for index in range(len(builder.kind)):
        functions = _cheap(builder, index, keep)
        readers = uses[builder.outputs[index][0]] if functions else set()
        if readers and all(_takes(builder, index, reader, functions) for reader in readers):
            for reader in sorted(readers):
                _taken(builder, index, reader, uses)
            found[index] = min(readers)
    return found


def _cheap(builder: GraphBuilder, index: int, keep: set[int]) -> tuple[str, ...]:
    """The functions of an operator of an update that reads one tensor beside scalars, and makes one that stays."""
    outputs = builder.outputs[index]
    if builder.kind[index] != Kind.ELEMENTWISE or builder.pass_[index] != Pass.UPDATE or len(outputs) != 1:
        return ()
    whole = [t for t in builder.inputs[index] if builder.avals[t].shape]
    given = len(whole) == 1 and builder.role[builder.root(whole[0])] != Role.OPTIMISER_STATE
    if not given or builder.alias_of[outputs[0]] >= 0 or outputs[0] in keep:
        return ()
    functions: tuple[str, ...] = builder.attributes[index]["functions"]
    return functions if CHEAP.issuperset(functions) else ()


def _takes(builder: GraphBuilder, index: int, reader: int, functions: tuple[str, ...]) -> bool:
    """Whether ``reader`` can do ``functions`` itself: element-wise if cheap, a sum if a square or conversion."""
    if builder.pass_[reader] != Pass.UPDATE:
        return False
    if builder.kind[reader] == Kind.ELEMENTWISE:
        same: bool = builder.attributes[reader]["elements"] == builder.attributes[index]["elements"]
        return same and "square" not in functions
    summed = functions in (("square",), ("convert_element_type",), ("convert_element_type", "square"))
    return summed and builder.attributes[reader].get("op") == "reduce_sum"


def _taken(builder: GraphBuilder, index: int, reader: int, uses: dict[int, set[int]]) -> None:
    """``reader`` reads what ``index`` does and does its functions, where it is element-wise, first."""
    written = builder.outputs[index][0]
    inputs = [t for t in builder.inputs[reader] if builder.root(t) != written]
    builder.inputs[reader] = tuple(dict.fromkeys((*builder.inputs[index], *inputs)))
    for tensor in builder.inputs[index]:
        uses[builder.root(tensor)].discard(index)
        uses[builder.root(tensor)].add(reader)
    if builder.kind[reader] == Kind.ELEMENTWISE:
        _does(builder, reader, builder.attributes[index]["functions"] + builder.attributes[reader]["functions"])


def _next_producer(
    builder: GraphBuilder, index: int, uses: dict[int, set[int]], merged_into: dict[int, int], level: str
) -> int | None:
    """A producer of what ``index`` reads that can still move down into it; merging one may free another."""
    for tensor in builder.inputs[index]:
        producer = builder.producer.get(builder.root(tensor))
        if producer is None or producer == index or producer in merged_into:
            continue
        if _fusable(builder, producer, index, uses, level):
            return producer
    return None


def _uses(builder: GraphBuilder) -> dict[int, set[int]]:
    uses: dict[int, set[int]] = defaultdict(set)
    for index, inputs in enumerate(builder.inputs):
        for tensor in inputs:
            uses[builder.root(tensor)].add(index)
    return uses


def _fusable(builder: GraphBuilder, first: int, second: int, uses: dict[int, set[int]], level: str) -> bool:
    same = (
        builder.kind[first] == Kind.ELEMENTWISE
        and builder.primitive[second] != NARROWED
        and builder.pass_[first] == builder.pass_[second]
        and (level == "wide" or builder.source[first] == builder.source[second])
        and builder.repeats[first] == builder.repeats[second]
        and builder.attributes[first]["elements"] == builder.attributes[second]["elements"]
    )
    return same and all(
        builder.alias_of[t] < 0 and min(uses[t], default=second) == second for t in builder.outputs[first]
    )


def _merge(builder: GraphBuilder, first: int, second: int, uses: dict[int, set[int]], keep: set[int]) -> None:
    written = set(builder.outputs[first])
    for tensor in builder.inputs[first]:
        root = builder.root(tensor)
        uses[root].discard(first)
        uses[root].add(second)
    for tensor in written:
        uses[tensor].discard(second)  # within the chain now: no reader any more
    held = tuple(t for t in builder.outputs[first] if t in keep or uses[t])
    inputs = [t for t in builder.inputs[second] if builder.root(t) not in written]
    builder.inputs[second] = tuple(dict.fromkeys((*builder.inputs[first], *inputs)))
    builder.outputs[second] = (*builder.outputs[second], *held)
    for tensor in held:
        builder.producer[tensor] = second
    _does(builder, second, builder.attributes[first]["functions"] + builder.attributes[second]["functions"])


def _does(builder: GraphBuilder, index: int, functions: tuple[str, ...]) -> None:
    builder.attributes[index] = {
        **builder.attributes[index],
        "function": costliest(functions),
        "functions": functions,
        "depth": len(functions),
        "arity": max(1, len({builder.root(t) for t in builder.inputs[index]})),
    }


def _drop_operators(builder: GraphBuilder, gone: set[int]) -> None:
    kept = [i for i in range(len(builder.kind)) if i not in gone]
    builder.kind = [builder.kind[i] for i in kept]
    builder.pass_ = [builder.pass_[i] for i in kept]
    builder.repeats = [builder.repeats[i] for i in kept]
    builder.source = [builder.source[i] for i in kept]
    builder.primitive = [builder.primitive[i] for i in kept]
    builder.attributes = [builder.attributes[i] for i in kept]
    builder.inputs = [builder.inputs[i] for i in kept]
    builder.outputs = [builder.outputs[i] for i in kept]
