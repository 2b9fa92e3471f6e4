"""What real hardware does that this simulation does not, so that a reader knows where a figure may differ.

Entries are (code, text) and depend on the run; what a run says of itself beyond them are notes.
"""

from __future__ import annotations

from simulator.config import RunConfig

ALWAYS = (
    (
        "cycles",
        "Cycles of vertices are those of published estimators and of instruction counts; no machine code runs. "
        "Functions whose time depends on their data (exp, sine, sort) take an average.",
    ),
    (
        "exchange",
        "An exchange takes as long as the tile that sends or receives most. Routes, bank conflicts while receiving and "
        "the fetch of exchange code are not followed one by one.",
    ),
    (
        "layout",
        "Tensors lie where our planner puts them, and the plan of each operator is ours: Poplar may choose another "
        "split, and its allocation leaves gaps between tensors that need a certain memory bank.",
    ),
    (
        "code",
        "Sizes of code, vertex state and stacks are estimates by kind of vertex, not those of a compiled program.",
    ),
    ("jitter", "All IPUs, replicas and steps take equally long: no faults, stragglers, retries or clock throttling."),
    ("compile", "The time that the real compiler takes, and loading the program, are no part of a step."),
    (
        "numbers",
        "Losses and outputs are computed on a CPU in IEEE arithmetic: sums are made in another order than on tiles, "
        "and random numbers come from another generator.",
    ),
)
TRAINING = ("rounding", "Stochastic rounding and loss scaling change numbers as on hardware, but not bit for bit.")
SEVERAL = ("links", "Traffic of several collectives at once on the same links is added up, not interleaved.")
GATEWAY = ("gateway", "Beyond one IPU-Link domain switches, their queues and other tenants are not simulated.")
HOST = ("host", "Hosts are a rate and a latency: their memory, caches, file systems and Python are not followed.")
VARIANT = ("variant", "The machine is a variant of your own: no such hardware has been measured.")


def differences(config: RunConfig, ipus: int, link_domains: int) -> list[dict[str, str]]:
    """The list for one run, the general ones first."""
    found = [*ALWAYS, HOST]
    if config.training and config.precision == "fp16":
        found.append(TRAINING)
    if ipus > 1:
        found.append(SEVERAL)
    if link_domains > 1:
        found.append(GATEWAY)
    if config.machine:
        found.append(VARIANT)
    return [{"code": code, "message": message} for code, message in found]
