"""SchNet over packs of molecules.

Shapes: Schuett et al. 2017 (arXiv 1706.08566) as in PyTorch Geometric; packs, neighbours and the fast shifted softplus
as in hydronet-gnn (MIT). A pack holds the atoms of several molecules; edges are an atom's nearest neighbours.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.zoo.catalogue import refused
from simulator.zoo.kernels import added
from simulator.zoo.layers import dense
from simulator.zoo.network import Network
from simulator.zoo.weights import Start

CUTOFF = 6.0
ATOMS = 100  # atomic numbers that have an embedding


def build(*, nodes: int, graphs: int, neighbours: int, features: int, interactions: int, gaussians: int) -> Network:
    """``z`` and ``pos`` of the ``nodes`` atoms of each pack, ``ends``: where its molecules end, up to ``graphs``.

    All atoms of a batch are one graph, as the source computes it: distances are of every pair of them.
    """
    if min(features, gaussians) < 2:
        raise refused("features" if features < 2 else "gaussians", "2 or more")
    if neighbours > nodes:
        raise refused("neighbours", f"no more than the {nodes} atoms of a pack")
    net = Network("schnet")
    z = net.node("Reshape", "z.flat", [net.input("z", ("batch", nodes), "int32"), net.constant([-1])])
    pos = net.node("Reshape", "pos.flat", [net.input("pos", ("batch", nodes, 3)), net.constant([-1, 3])])
    ends = net.node("Reshape", "ends.flat", [net.input("ends", ("batch", graphs), "int32"), net.constant([-1])])
    atoms = net.node("Shape", "atoms", [z])
    molecule = _molecules(net, ends, atoms)
    with net.scope("neighbours"):
        source, target, distance = _nearest(net, pos, molecule, atoms, neighbours)
    smeared = _smeared(net, distance, gaussians)
    table = net.weight("embedding", (ATOMS, features), Start("normal", 1.0))
    data = net.node("Gather", "embed", [table, z])
    none = _zeros(net, "none", atoms, features)
    for index in range(interactions):
        with net.scope(f"interaction{index}"):
            change = interaction(net, data, (source, target), (distance, smeared), none, (features, gaussians))
            data = net.node("Add", "residual", [data, change])
    _readout(net, data, molecule, ends, features, graphs)
    return net


def interaction(
    net: Network, data: str, edges: tuple[str, str], lengths: tuple[str, str], none: str, sizes: tuple[int, int]
) -> str:
    """Filters from the lengths of edges, times the atoms they come from, added to ``none`` where they go."""
    features, gaussians = sizes
    source, target = edges
    distance, smeared = lengths
    made = softplus(net, "filter1", dense(net, "filter1", smeared, (gaussians, features)))
    made = dense(net, "filter2", made, (features, features))
    angle = net.node("Mul", "cutoff.angle", [distance, _number(net, math.pi / CUTOFF)])
    wave = net.node("Add", "cutoff.up", [net.node("Cos", "cutoff.cos", [angle]), _number(net, 1.0)])
    window = net.node("Mul", "cutoff", [wave, _number(net, 0.5)])
    column = net.node("Reshape", "cutoff.column", [window, net.constant([-1, 1])])
    filters = net.node("Mul", "filter", [made, column])
    picked = net.node("Gather", "pick", [dense(net, "in", data, (features, features), bias=False), source])
    messages = net.node("Mul", "message", [picked, filters])
    index = net.node("Reshape", "to", [target, net.constant([-1, 1])])
    gathered = added(net, "sum", none, index, messages)
    made = softplus(net, "out1", dense(net, "out1", gathered, (features, features)))
    return dense(net, "out2", made, (features, features))


def softplus(net: Network, name: str, data: str) -> str:
    """log(1 + exp(x)) - log 2, in the form that hydronet-gnn found faster: log1p(exp(-|x|)) + max(x, 0) - log 2."""
    with net.scope(f"{name}.softplus"):
        small = net.node("Exp", "exp", [net.node("Neg", "neg", [net.node("Abs", "abs", [data])])])
        bent = net.node("Log", "log", [net.node("Add", "one", [small, _number(net, 1.0)])])
        both = net.node("Add", "both", [bent, net.node("Relu", "positive", [data])])
        return net.node("Sub", "shift", [both, _number(net, math.log(2))])


def _number(net: Network, value: float) -> str:
    return net.constant(value, "float32")


def _zeros(net: Network, name: str, rows: str, columns: int) -> str:
    """Zeros of as many rows as the one-dimensional ``rows`` says."""
    shape = net.node("Concat", f"{name}.shape", [rows, net.constant([columns])], axis=0)
    return net.node("Expand", name, [_number(net, 0.0), shape])


def _molecules(net: Network, ends: str, atoms: str) -> str:
    """The number of each atom's molecule: ones where molecules begin, added up."""
    none = net.node("Expand", "begin.none", [net.constant(0, "int32"), atoms])
    ones = net.node("Expand", "begin.ones", [net.constant(1, "int32"), net.node("Shape", "molecules", [ends])])
    begin = net.node("ScatterElements", "begin", [none, ends, ones], axis=0)
    return net.node("CumSum", "molecule", [begin, net.constant(0)])


def _nearest(net: Network, pos: str, molecule: str, atoms: str, neighbours: int) -> tuple[str, str, str]:
    """Every atom's nearest in its molecule: (from, to, distance) of atoms x neighbours edges."""
    one = net.node("Reshape", "one", [pos, net.constant([-1, 1, 3])])
    apart = net.node("Sub", "apart", [one, pos])
    square = net.node("Mul", "square", [apart, apart])
    squared = net.node("ReduceSum", "squared", [square, net.constant([2])], keepdims=0)
    distance = net.node("Sqrt", "distance", [squared])
    column = net.node("Reshape", "molecule.column", [molecule, net.constant([-1, 1])])
    other = net.node("Not", "other", [net.node("Equal", "same", [column, molecule])])
    count = net.node("Range", "count", [net.constant(0), net.node("Squeeze", "many", [atoms]), net.constant(1)])
    counted = net.node("Reshape", "count.column", [count, net.constant([-1, 1])])
    itself = net.node("Equal", "itself", [counted, count])
    far = net.node("Greater", "far", [distance, _number(net, CUTOFF)])
    masked = net.node("Or", "mask", [net.node("Or", "either", [itself, other]), far])
    kept = net.node("Where", "kept", [masked, _number(net, CUTOFF), distance])
    nearness = net.node("Neg", "nearness", [kept])
    nearest = net.split("TopK", "nearest", [nearness, net.constant([neighbours])], 2, axis=1)
    every = net.constant([-1])
    shape = net.node("Concat", "edges", [atoms, net.constant([neighbours])], axis=0)
    source = net.node("Reshape", "from", [nearest[1], every])
    target = net.node("Reshape", "to", [net.node("Expand", "to.wide", [counted, shape]), every])
    lengths = net.node("Neg", "length", [net.node("Reshape", "length.flat", [nearest[0], every])])
    return source, target, lengths


def _smeared(net: Network, distance: str, gaussians: int) -> str:
    """Gaussians at even places up to the cutoff. Shape [edges, gaussians]."""
    places = np.linspace(0.0, CUTOFF, gaussians, dtype=np.float32)
    width = -0.5 / float(places[1] - places[0]) ** 2
    column = net.node("Reshape", "smear.column", [distance, net.constant([-1, 1])])
    away = net.node("Sub", "smear.away", [column, net.constant(places, "float32")])
    squared = net.node("Mul", "smear.square", [away, away])
    return net.node("Exp", "smear", [net.node("Mul", "smear.scale", [squared, _number(net, width)])])


def _readout(net: Network, data: str, molecule: str, ends: str, features: int, graphs: int) -> None:
    """A number for each atom, added up over its molecule."""
    made = softplus(net, "head1", dense(net, "head1", data, (features, features // 2)))
    made = dense(net, "head2", made, (features // 2, 1))
    index = net.node("Reshape", "readout.column", [molecule, net.constant([-1, 1])])
    none = _zeros(net, "readout.none", net.node("Shape", "readout.many", [ends]), 1)
    total = added(net, "readout", none, index, made)
    energy = net.node("Reshape", "energy.rows", [total, net.constant([-1, graphs])])
    net.output("energy", energy, ("batch", graphs), loss="mean_squared_error")
