"""One interaction block of SchNet in a loop on the device, as hydronet-gnn (MIT) times it."""

from __future__ import annotations

from simulator.zoo.loops import Carried, looped, summed, whole_input, zeros
from simulator.zoo.network import Network
from simulator.zoo.schnet import interaction


def build(*, inputs: int, features: int, outputs: int, gaussians: int, repeats: int) -> Network:
    """One interaction block of ``inputs`` atoms and ``outputs`` edges."""
    net = Network("schnet-block")
    data = whole_input(net, "atoms", (inputs, features))
    source, target = (whole_input(net, name, (outputs,), "int32") for name in ("source", "target"))
    distance, smeared = whole_input(net, "distance", (outputs,)), whole_input(net, "smeared", (outputs, gaussians))
    carried = [
        Carried("x", data, (inputs, features)),
        Carried("from", source, (outputs,), "int32"),
        Carried("to", target, (outputs,), "int32"),
        Carried("far", distance, (outputs,)),
        Carried("wide", smeared, (outputs, gaussians)),
        Carried("made", zeros(net, "start", (inputs, features)), (inputs, features)),
    ]

    none = zeros(net, "none", (inputs, features))

    def body(values: list[str]) -> list[str]:
        x, begins, ends, far, wide, _ = values
        with net.scope("block"):
            made = interaction(net, x, (begins, ends), (far, wide), none, (features, gaussians))
        return [x, begins, ends, far, wide, made]

    summed(net, looped(net, repeats, carried, body)[-1])
    return net
