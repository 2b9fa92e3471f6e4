"""Fuses element-wise chains within one source node and pass: legal, and done in one sweep."""

from __future__ import annotations

from collections import defaultdict

from simulator.graph.builder import GraphBuilder
from simulator.graph.classify import costliest
from simulator.graph.graph import Kind


def fuse(builder: GraphBuilder, keep: set[int]) -> None:
    """Merge in place. ``keep`` are roots that leave the step and so must stay written.

    A producer moves down to its first reader when both are element-wise over as many elements; it keeps an output of
    its own only if something later reads it (typically the backward pass).
    """
    uses = _uses(builder)
    merged_into: dict[int, int] = {}
    for index in range(len(builder.kind)):
        if builder.kind[index] == Kind.ELEMENTWISE:
            for tensor in builder.inputs[index]:
                producer = builder.producer.get(builder.root(tensor))
                if producer is not None and producer not in merged_into and _fusable(builder, producer, index, uses):
                    _merge(builder, producer, index, uses, keep)
                    merged_into[producer] = index
    _drop_operators(builder, set(merged_into))


def _uses(builder: GraphBuilder) -> dict[int, set[int]]:
    uses: dict[int, set[int]] = defaultdict(set)
    for index, inputs in enumerate(builder.inputs):
        for tensor in inputs:
            uses[builder.root(tensor)].add(index)
    return uses


def _fusable(builder: GraphBuilder, first: int, second: int, uses: dict[int, set[int]]) -> bool:
    same = (
        builder.kind[first] == Kind.ELEMENTWISE
        and builder.pass_[first] == builder.pass_[second]
        and builder.source[first] == builder.source[second]
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
    held = tuple(t for t in builder.outputs[first] if t in keep or uses[t] - {second})
    inputs = [t for t in builder.inputs[second] if builder.root(t) not in written]
    builder.inputs[second] = tuple(dict.fromkeys((*builder.inputs[first], *inputs)))
    builder.outputs[second] = (*builder.outputs[second], *held)
    for tensor in held:
        builder.producer[tensor] = second
    functions = builder.attributes[first]["functions"] + builder.attributes[second]["functions"]
    builder.attributes[second] = {
        **builder.attributes[second],
        "function": costliest(functions),
        "functions": functions,
        "depth": len(functions),
        "arity": max(1, len({builder.root(t) for t in builder.inputs[second]})),
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
