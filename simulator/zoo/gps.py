"""GPS++ over packs of molecules: message passing beside attention, with 3D distances as a bias, as for PCQM4Mv2.

Shapes: Masters et al. 2022 (arXiv 2302.02947) and graphcore/ogb-lsc-pcqm4mv2 (MIT): 256 columns for atoms, 128 for
bonds, 64 for molecules; the networks of message passing are normalised inside (mlp_norm: layer_hidden). A pack holds
``nodes`` atoms, ``edges`` bonds and ``graphs`` molecules at most; masks keep them apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.zoo.kernels import added
from simulator.zoo.layers import dense, dropout, layer_norm
from simulator.zoo.network import Network
from simulator.zoo.weights import Start

ATOM, BOND, MOLECULE = 256, 128, 64
HEADS = 32
KERNELS = 128  # Gaussians over a distance
CATEGORIES = {"atom": (9, 174), "bond": (3, 13)}  # features of OGB's molecules, and values of all of them
HOPS = 64
EMBEDDED = 64


@dataclass(frozen=True)
class Pack:
    """Names of the index tensors that all layers share, flat over the batch, and sizes of a pack."""

    senders: str
    receivers: str
    molecule_of_atom: str
    molecule_of_bond: str
    nodes: int


def build(*, layers: int, nodes: int, edges: int, graphs: int) -> Network:
    """Inputs ``atom`` and ``bond`` of categories, ``sender``, ``receiver`` and ``molecule`` numbered over the batch,
    ``distance`` and ``hops`` of every pair; output ``gap`` [batch, graphs]."""
    net = Network("gps")
    every = net.constant([-1])
    flat = {
        name: net.node("Reshape", f"{name}.flat", [net.input(name, ("batch", size), "int32"), every])
        for name, size in (("sender", edges), ("receiver", edges), ("molecule", nodes))
    }
    of_bond = net.node("Gather", "molecule.of_bond", [flat["molecule"], flat["sender"]])
    pack = Pack(flat["sender"], flat["receiver"], flat["molecule"], of_bond, nodes)
    data = [_embedded(net, kind, size, width) for kind, size, width in (("atom", nodes, ATOM), ("bond", edges, BOND))]
    whole = net.weight("molecule.start", (graphs, MOLECULE), Start("normal", 0.02))
    shape = net.node("Concat", "batch.shape", [_batch(net), net.constant([graphs, MOLECULE])], axis=0)
    data.append(
        net.node("Reshape", "molecules", [net.node("Expand", "wide", [whole, shape]), net.constant([-1, MOLECULE])])
    )
    bias = _bias(net, nodes)
    for index in range(layers):
        with net.scope(f"layer{index}"):
            data = _layer(net, data, pack, bias)
    with net.scope("head"):
        atoms = _summed(net, "atoms", data[0], pack.molecule_of_atom, data[2], ATOM)
        joined = net.node("Concat", "joined", [data[2], atoms], axis=1)
        made = _mlp(net, "mlp", joined, (MOLECULE + ATOM, 2 * MOLECULE, 1))
        made = net.node("Reshape", "gap", [made, net.constant([-1, graphs])])
    net.output("gap", made, ("batch", graphs), loss="mean_squared_error")
    return net


def _batch(net: Network) -> str:
    """The number of packs, as a shape of one dimension."""
    return net.node("Slice", "batch.size", [net.node("Shape", "hops.shape", ["hops"]), *map(net.constant, ([0], [1]))])


def _embedded(net: Network, kind: str, size: int, width: int) -> str:
    """The sum of the embeddings of all categories of an atom or bond, brought to ``width``."""
    features, values = CATEGORIES[kind]
    given = net.input(kind, ("batch", size, features), "int32")
    table = net.weight(f"{kind}.table", (values, EMBEDDED), Start("normal", 0.02))
    rows = net.node("Gather", f"{kind}.embed", [table, given])
    summed = net.node("ReduceSum", f"{kind}.sum", [rows, net.constant([2])], keepdims=0)
    made = dense(net, f"{kind}.widen", summed, (EMBEDDED, width))
    return net.node("Reshape", f"{kind}.rows", [made, net.constant([-1, width])])


def _bias(net: Network, nodes: int) -> str:
    """What attention adds for each pair, from its distance in space and along bonds. Shape [batch, heads, n, n]."""
    far = net.input("distance", ("batch", nodes, nodes))
    hops = net.input("hops", ("batch", nodes, nodes), "int32")
    with net.scope("pairs"):
        places = np.linspace(0.0, 10.0, KERNELS, dtype=np.float32)
        away = net.node(
            "Sub", "away", [net.node("Unsqueeze", "far", [far, net.constant([3])]), net.constant(places, "float32")]
        )
        squared = net.node("Mul", "square", [away, away])
        wide = net.node("Exp", "smear", [net.node("Mul", "scale", [squared, net.constant(-80.0, "float32")])])
        near = _mlp(net, "mlp", wide, (KERNELS, KERNELS, HEADS))
        table = net.weight("hops", (HOPS, HEADS), Start("normal", 0.02))
        both = net.node("Add", "both", [near, net.node("Gather", "step", [table, hops])])
        return net.node("Transpose", "by_head", [both], perm=[0, 3, 1, 2])


def _layer(net: Network, data: list[str], pack: Pack, bias: str) -> list[str]:
    """Message passing and attention side by side on the same atoms, then two dense layers."""
    atoms, bonds, molecules = data
    passed, bonds, molecules = _messages(net, atoms, bonds, molecules, pack)
    seen = _attention(net, atoms, bias, pack.nodes)
    both = net.node("Add", "both", [passed, seen])
    made = _mlp(net, "ffn", layer_norm(net, "ffn.norm", both, ATOM), (ATOM, 4 * ATOM, ATOM))
    return [net.node("Add", "ffn.residual", [both, made]), bonds, molecules]


def _messages(net: Network, atoms: str, bonds: str, molecules: str, pack: Pack) -> tuple[str, str, str]:
    """Bonds from their ends, atoms from their bonds and neighbours in both directions, molecules from all of them."""
    ends = [net.node("Gather", f"atoms.{name}", [atoms, index]) for name, index in _directions(pack)]
    shared = net.node("Gather", "molecules.of_bond", [molecules, pack.molecule_of_bond])
    joined = net.node("Concat", "bonds.in", [bonds, *ends, shared], axis=1)
    change = _mlp(net, "bonds", joined, (BOND + 2 * ATOM + MOLECULE, 4 * BOND, BOND), normed=True)
    bonds = net.node("Add", "bonds.residual", [bonds, change])
    parts = [atoms]
    for (name, index), other in zip(_directions(pack), reversed(ends), strict=True):
        carried = net.node("Concat", f"message.{name}", [change, other], axis=1)
        parts.append(_summed(net, f"gathered.{name}", carried, index, atoms, BOND + ATOM))
    parts.append(net.node("Gather", "molecules.of_atom", [molecules, pack.molecule_of_atom]))
    joined = net.node("Concat", "atoms.in", parts, axis=1)
    change = _mlp(net, "atoms", joined, (3 * ATOM + 2 * BOND + MOLECULE, 4 * ATOM, ATOM), dropped=30, normed=True)
    made = layer_norm(net, "atoms.norm", net.node("Add", "atoms.residual", [atoms, change]), ATOM)
    of_atoms = _summed(net, "molecules.atoms", change, pack.molecule_of_atom, molecules, ATOM)
    of_bonds = _summed(net, "molecules.bonds", bonds, pack.molecule_of_bond, molecules, BOND)
    joined = net.node("Concat", "molecules.in", [molecules, of_atoms, of_bonds], axis=1)
    change = _mlp(net, "molecules", joined, (MOLECULE + ATOM + BOND, 4 * MOLECULE, MOLECULE), dropped=35, normed=True)
    return made, bonds, net.node("Add", "molecules.residual", [molecules, change])


def _directions(pack: Pack) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("sent", pack.senders), ("received", pack.receivers)


def _summed(net: Network, name: str, rows: str, index: str, like: str, width: int) -> str:
    """``rows`` added up by ``index`` into as many rows as ``like`` has."""
    with net.scope(name):
        many = net.node("Slice", "many", [net.node("Shape", "shape", [like]), *map(net.constant, ([0], [1]))])
        shape = net.node("Concat", "wide", [many, net.constant([width])], axis=0)
        none = net.node("Expand", "none", [net.constant(0.0, "float32"), shape])
        column = net.node("Reshape", "column", [index, net.constant([-1, 1])])
        return added(net, "add", none, column, rows)


def _attention(net: Network, atoms: str, bias: str, nodes: int) -> str:
    """Attention of the atoms of a pack over each other; the bias keeps molecules apart."""
    with net.scope("attention"):
        size = ATOM // HEADS
        packed = net.node("Reshape", "packs", [atoms, net.constant([-1, nodes, ATOM])])
        split = net.constant([-1, nodes, HEADS, size])

        def heads(name: str, order: list[int]) -> str:
            made = dense(net, name, packed, (ATOM, ATOM))
            return net.node(
                "Transpose", f"{name}.heads", [net.node("Reshape", f"{name}.split", [made, split])], perm=order
            )

        scores = net.node("MatMul", "scores", [heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1])])
        scaled = net.node("Mul", "scale", [scores, net.constant(size**-0.5, "float32")])
        shares = net.node("Softmax", "softmax", [net.node("Add", "biased", [scaled, bias])], axis=-1)
        mixed = net.node("MatMul", "mix", [dropout(net, "dropout", shares, 30), heads("value", [0, 2, 1, 3])])
        joined = net.node(
            "Reshape", "join", [net.node("Transpose", "turn", [mixed], perm=[0, 2, 1, 3]), net.constant([-1, ATOM])]
        )
        made = dense(net, "out", joined, (ATOM, ATOM))
        return layer_norm(net, "norm", net.node("Add", "residual", [made, atoms]), ATOM)


def _mlp(
    net: Network, name: str, data: str, widths: tuple[int, int, int], *, dropped: int = 0, normed: bool = False
) -> str:
    """Two dense layers with GELU between, and dropout; ``normed``: what is between them is normalised first."""
    inside = dense(net, f"{name}.1", data, widths[:2])
    if normed:
        inside = layer_norm(net, f"{name}.inside", inside, widths[1])
    inside = net.node("Gelu", f"{name}.gelu", [inside])
    return dropout(net, f"{name}.dropout", dense(net, f"{name}.2", inside, widths[1:]), dropped)
