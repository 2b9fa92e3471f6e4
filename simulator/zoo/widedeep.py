"""Wide & Deep (Cheng et al. 2016, arXiv 1606.07792): a linear model of categories beside a small deep network.

Sizes are those of Intel's wide_deep_large_ds on the Criteo data (26 categories hashed into 1,000 buckets, 13 numbers).
"""

from __future__ import annotations

import numpy as np

from simulator.zoo.layers import dense
from simulator.zoo.network import Network
from simulator.zoo.weights import ZEROS, Start


def build(*, categories: int, buckets: int, numbers: int, width: int, hidden: list[int]) -> Network:
    """Inputs ``categories`` [batch, categories] and ``numbers`` [batch, numbers]; output ``scores`` [batch, 2]."""
    net = Network("wide-deep")
    given = net.input("categories", ("batch", categories), "int32")
    own = net.node("Add", "own", [given, net.node("Cast", "own.first", [_firsts(net, categories, buckets)], to=6)])
    with net.scope("wide"):
        table = net.weight("table", (categories * buckets, 1), ZEROS)
        wide = net.node("Gather", "gather", [table, own], axis=0)
        wide = net.node("ReduceSum", "sum", [wide, net.constant([1])], keepdims=0)
    with net.scope("deep"):
        table = net.weight("table", (categories * buckets, width), Start("normal", 1 / width**0.5))
        deep = net.node("Gather", "gather", [table, own], axis=0)
        deep = net.node("Reshape", "flat", [deep, net.constant([0, categories * width])])
        deep = net.node("Concat", "join", [deep, net.input("numbers", ("batch", numbers))], axis=1)
        inward = categories * width + numbers
        for number, outward in enumerate(hidden):
            deep = net.node("Relu", f"relu{number}", [dense(net, f"dense{number}", deep, (inward, outward))])
            inward = outward
        deep = dense(net, "out", deep, (inward, 1))
    yes = net.node("Add", "head.add", [wide, deep])
    scores = net.node("Concat", "head.join", [net.node("Neg", "head.no", [yes]), yes], axis=1)
    net.output("scores", scores, ("batch", 2), loss="cross_entropy")
    return net


def _firsts(net: Network, categories: int, buckets: int) -> str:
    """The first row of each category in the common table."""
    return net.constant(buckets * np.arange(categories)[None, :])
