"""Sweeps over a mesh by hand-written kernels, and STREAM's triad. A model is one of the ``pieces`` of a mesh."""

from __future__ import annotations

from simulator.zoo.catalogue import refused
from simulator.zoo.loops import summed, whole_input
from simulator.zoo.network import Network

DOMAIN = "podium"


def build_heat2d(*, width: int, height: int, steps: int, pieces: int, lanes: int) -> Network:
    """Explicit heat equation with five points; ``u`` [height / pieces, width]."""
    return _swept("heat2d", (_piece(height, pieces), width), steps=steps, pieces=pieces, lanes=lanes)


def build_heat3d(*, width: int, height: int, depth: int, steps: int, pieces: int, lanes: int) -> Network:
    """Explicit heat equation with seven points; ``u`` [depth / pieces, height, width]."""
    return _swept("heat3d", (_piece(depth, pieces), height, width), steps=steps, pieces=pieces, lanes=lanes)


def build_blur(*, width: int, height: int, channels: int, steps: int, pieces: int, lanes: int) -> Network:
    """Gaussian blur with nine points of every channel; ``u`` [height / pieces, width, channels]."""
    return _swept("blur", (_piece(height, pieces), width, channels), steps=steps, pieces=pieces, lanes=lanes)


def build_triad(*, elements: int, steps: int, lanes: int, assembly: int) -> Network:
    """``b`` + 3 ``c``."""
    net = Network("stream-triad")
    inputs = [whole_input(net, name, (elements,)) for name in ("b", "c")]
    made = net.node("Triad", "triad", inputs, domain=DOMAIN, steps=steps, lanes=lanes, assembly=assembly)
    summed(net, made)
    return net


def _piece(size: int, pieces: int) -> int:
    if pieces > size:
        raise refused("pieces", f"no more than the {size} cells that it cuts")
    return -(-size // pieces)


def _swept(form: str, mesh: tuple[int, ...], **attributes: int) -> Network:
    net = Network(form)
    made = net.node("Stencil", "sweeps", [whole_input(net, "u", mesh)], domain=DOMAIN, form=form, **attributes)
    summed(net, made)
    return net
