"""Rotary positions (Su et al. 2021, arXiv 2104.09864): pairs of a head's columns turned by an angle that grows with
the place."""

from __future__ import annotations

import numpy as np

from simulator.zoo.encoder import Turn
from simulator.zoo.network import Network


def rotary(tokens: int, width: int) -> Turn:
    """x * cos + swapped(x) * sin over [batch, heads, tokens, width], pairs being neighbours."""
    angles = np.arange(tokens)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)[None, :]
    cosines, sines = np.repeat(np.cos(angles), 2, axis=1), np.repeat(np.sin(angles), 2, axis=1)

    def turn(net: Network, name: str, data: str) -> str:
        pairs = net.node("Reshape", f"{name}.pairs", [data, net.constant([0, 0, 0, width // 2, 2])])
        first, second = net.split("Split", f"{name}.split", [pairs], 2, axis=-1, num_outputs=2)
        swapped = net.node("Concat", f"{name}.swap", [net.node("Neg", f"{name}.neg", [second]), first], axis=-1)
        flat = net.node("Reshape", f"{name}.flat", [swapped, net.constant([0, 0, 0, width])])
        straight = net.node("Mul", f"{name}.cos", [data, net.constant(cosines, "float32")])
        return net.node("Add", name, [straight, net.node("Mul", f"{name}.sin", [flat, net.constant(sines, "float32")])])

    return turn
