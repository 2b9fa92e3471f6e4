"""Tables computed from place numbers alone (angles, masks): a front end folds them, so that none is a weight."""

from __future__ import annotations

import math

import numpy as np

from simulator.zoo.network import Network

LOW = -10_000.0  # added to scores that must not count; within float16


def angles(net: Network, name: str, tokens: int, width: int) -> str:
    """place / 10,000^(2 i / width) as [tokens, width / 2] (Vaswani et al. 2017, arXiv 1706.03762, section 3.5)."""
    places = net.node("Cast", f"{name}.places", [net.constant(np.arange(tokens)[:, None])], to=1)
    pairs = net.node("Cast", f"{name}.pairs", [net.constant(np.arange(width // 2)[None, :])], to=1)
    slope = net.constant(-2 * math.log(10_000) / width, "float32")
    speeds = net.node("Exp", f"{name}.speeds", [net.node("Mul", f"{name}.slopes", [pairs, slope])])
    return net.node("Mul", name, [places, speeds])


def later(net: Network, name: str, tokens: int) -> str:
    """LOW where the column comes after the row, else 0: [tokens, tokens]."""
    places = np.arange(tokens)
    after = net.node("Less", f"{name}.after", [net.constant(places[:, None]), net.constant(places[None, :])])
    return lowered(net, name, after, kept=False)


def lowered(net: Network, name: str, which: str, *, kept: bool) -> str:
    """From booleans: LOW where a score must not count. ``kept`` says which of the two counts."""
    zero, low = net.constant(0.0, "float32"), net.constant(LOW, "float32")
    return net.node("Where", name, [which, *((zero, low) if kept else (low, zero))])


def sinusoid(net: Network, name: str, tokens: int, width: int) -> str:
    """Sines and cosines of place numbers, column by column in turn: [tokens, width] (arXiv 1706.03762, 3.5)."""
    wide = net.node("Unsqueeze", f"{name}.wide", [angles(net, f"{name}.angles", tokens, width), net.constant([2])])
    parts = [net.node("Sin", f"{name}.sin", [wide]), net.node("Cos", f"{name}.cos", [wide])]
    pairs = net.node("Concat", f"{name}.pairs", parts, axis=2)
    return net.node("Reshape", name, [pairs, net.constant([tokens, width])])
