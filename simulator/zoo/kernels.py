"""Kernels in a loop: a matrix product, rows gathered from a table, rows added into one. Float32 as built.

The loop is that of hydronet-gnn's benchmark of message passing (MIT): inputs and result are carried from trip to trip.
"""

from __future__ import annotations

from simulator.zoo.loops import Carried, looped, summed, whole_input, zeros
from simulator.zoo.network import Network


def build_matmul(*, m: int, k: int, n: int, repeats: int) -> Network:
    """``left`` [m, k] by ``right`` [k, n]."""
    net = Network("matmul")
    carried = [
        Carried("left", whole_input(net, "left", (m, k)), (m, k)),
        Carried("right", whole_input(net, "right", (k, n)), (k, n)),
        Carried("made", zeros(net, "start", (m, n)), (m, n)),
    ]
    last = looped(net, repeats, carried, lambda v: [v[0], v[1], net.node("MatMul", "product", v[:2])])
    summed(net, last[2])
    return net


def build_gather(*, inputs: int, features: int, outputs: int, repeats: int) -> Network:
    """``outputs`` rows picked by ``index`` from ``table`` [inputs, features]."""
    net = Network("gather")
    carried = [
        Carried("table", whole_input(net, "table", (inputs, features)), (inputs, features)),
        Carried("index", whole_input(net, "index", (outputs,), "int32"), (outputs,), "int32"),
        Carried("picked", zeros(net, "start", (outputs, features)), (outputs, features)),
    ]
    last = looped(net, repeats, carried, lambda v: [v[0], v[1], net.node("Gather", "pick", v[:2])])
    summed(net, last[2])
    return net


def build_scatter_add(*, inputs: int, features: int, outputs: int, repeats: int) -> Network:
    """``rows`` [inputs, features] added by ``index`` into ``outputs`` rows of zeros."""
    net = Network("scatter-add")
    carried = [
        Carried("rows", whole_input(net, "rows", (inputs, features)), (inputs, features)),
        Carried("index", whole_input(net, "index", (inputs, 1), "int32"), (inputs, 1), "int32"),
        Carried("table", zeros(net, "start", (outputs, features)), (outputs, features)),
    ]

    def body(values: list[str]) -> list[str]:
        rows, index, _ = values
        empty = zeros(net, "empty", (outputs, features))
        return [rows, index, added(net, "add", empty, index, rows)]

    last = looped(net, repeats, carried, body)
    summed(net, last[2])
    return net


def added(net: Network, name: str, table: str, index: str, rows: str) -> str:
    """``rows`` added into ``table`` where ``index`` [rows, 1] says."""
    wide = net.node("Cast", f"{name}.index", [index], to=7)
    return net.node("ScatterND", name, [table, wide, rows], reduction="add")
