"""Rotary positions (Su et al. 2021, arXiv 2104.09864): pairs of a head's columns turned by an angle that grows with
the place."""

from __future__ import annotations

from simulator.zoo.encoder import Turn
from simulator.zoo.network import Network
from simulator.zoo.tables import angles


def rotary(net: Network, tokens: int, width: int) -> Turn:
    """x * cos + swapped(x) * sin over [batch, heads, tokens, width], pairs being neighbours."""
    flat = net.constant([tokens, width])
    ones = net.constant([1, 1, 2])
    turned = net.node("Unsqueeze", "turn.wide", [angles(net, "turn.angles", tokens, width), net.constant([2])])
    pairs = net.node("Reshape", "turn.pairs", [net.node("Tile", "turn.twice", [turned, ones]), flat])
    cosines, sines = net.node("Cos", "turn.cos", [pairs]), net.node("Sin", "turn.sin", [pairs])

    def turn(net: Network, name: str, data: str) -> str:
        pairs = net.node("Reshape", f"{name}.pairs", [data, net.constant([0, 0, 0, width // 2, 2])])
        first, second = net.split("Split", f"{name}.split", [pairs], 2, axis=-1, num_outputs=2)
        swapped = net.node("Concat", f"{name}.swap", [net.node("Neg", f"{name}.neg", [second]), first], axis=-1)
        flat = net.node("Reshape", f"{name}.flat", [swapped, net.constant([0, 0, 0, width])])
        straight = net.node("Mul", f"{name}.cos", [data, cosines])
        return net.node("Add", name, [straight, net.node("Mul", f"{name}.sin", [flat, sines])])

    return turn
