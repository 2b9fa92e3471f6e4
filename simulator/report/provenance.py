"""Where headline figures come from: the formula, the terms in it, and every constant with its source."""

from __future__ import annotations

from typing import Any

from simulator.machines.constants import fitted
from simulator.report.parts import Parts

# term of a step -> (how it is computed, sections of constants it rests on)
TERMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "compute": (
        "sum over supersteps of the slowest tile's cycles; a tile takes six times its slowest worker",
        ("tile.", "amp.", "codelet.", "planner.", "fitted.matrix", "fitted.vector", "fitted.sdk_slope"),
    ),
    "exchange": (
        "sum over supersteps of the larger of bytes in and bytes out of the busiest tile, by its bytes a cycle",
        ("exchange.", "fitted.exchange"),
    ),
    "sync": ("number of supersteps x (barrier + skew of the routes)", ("sync.", "exchange.", "fitted.superstep")),
    "copy": (
        "activations and gradients between the stages, by the rate of IPU-Links",
        ("links.", "fitted.link"),
    ),
    "host": (
        "bytes of inputs and outputs by the rate at which IPUs read them, calls, waiting for what is not ready",
        ("host.", "streaming.", "fitted.host"),
    ),
    "collective": (
        "reduce-scatter and all-gather of the gradients in a ring, over GW-Links beyond one IPU-Link domain",
        ("links.", "collectives.", "fitted.link"),
    ),
    "bubble": ("time in which the pipeline fills and drains, or waits for its slowest stage", ()),
}


# what a tile holds -> (how its bytes are counted, constants)
HELD: dict[str, tuple[str, tuple[str, ...]]] = {
    "vertex_code": (
        "run-time and every codelet that runs on the tile, once",
        ("codelet.runtime_code", "codelet.amp_code", "codelet.vector_code"),
    ),
    "exchange_code": (
        "instructions that send, receive and select",
        ("exchange.instruction", "exchange.words_per_send", "exchange.control_per_fragment"),
    ),
    "control_code": (
        "a call for every operator, steps of every different one",
        ("codelet.call", "codelet.control_per_superstep"),
    ),
    "vertex_state": ("vertices of every compute set of every different operator", ("codelet.vertex_state",)),
    "stacks": ("of the workers and the supervisor", ("tile.workers", "tile.worker_stack", "tile.supervisor_stack")),
    "constants": ("kept for the whole run", ()),
    "weights": ("kept for the whole run, where their first user wants them", ("tile.mapping_minimum",)),
    "optimiser_state": ("kept for the whole run beside the weights", ()),
    "accumulators": ("sums of gradients over micro-batches", ()),
    "stash": ("activations of micro-batches that wait for their backward pass", ()),
    "stream_buffers": ("inputs and outputs of a micro-batch", ()),
    "activations": ("from the operator that writes one to the last that reads it", ("tile.mapping_minimum",)),
    "gradients": ("from the operator that writes one to the last that reads it", ()),
    "temporaries": ("what the operator needs while it runs: operands brought together, partial sums", ()),
}
# of the sections above: bytes, roofs and figures that decide no time
OF_NO_TIME = frozenset(
    {name for _, names in HELD.values() for name in names} - {"tile.workers", "tile.mapping_minimum"}
    | {
        "tile.memory", "tile.standard_region", "tile.interleaved_region", "tile.load_store_bytes_per_cycle",
        "tile.vector_flops_half", "tile.vector_flops_single",
    }
)  # fmt: skip


def provenance(parts: Parts, time: dict[str, Any]) -> dict[str, Any]:
    """``constants`` with unit, source and confidence, and ``headline``: a formula a figure, with its terms."""
    constants = [fact.to_dict() for fact in parts.ipu.known.values()] + _scales(parts)
    return {"constants": constants, "headline": [_step(time, constants), _rate(parts, time), _fit(parts)]}


def _scales(parts: Parts) -> list[dict[str, Any]]:
    """The fitted constants as this run used them."""
    found = []
    for name, fact in fitted().items():
        used = getattr(parts.constants, name)
        given = {"confidence": "given", "source": "set by the configuration of this run"} if used != fact.value else {}
        found.append({**fact.to_dict(), "value": used, **given})
    return found


def _step(time: dict[str, Any], constants: list[dict[str, Any]]) -> dict[str, Any]:
    terms = []
    for name, (formula, sections) in TERMS.items():
        seconds = time.get(f"{name}_seconds", 0.0)
        if seconds:
            names = [row["name"] for row in constants if row["name"].startswith(sections)]
            used = [name for name in names if name not in OF_NO_TIME]
            terms.append({"name": name, "value": seconds, "unit": "s", "formula": formula, "constants": used})
    formula = " + ".join(term["name"] for term in terms) + ", each in cycles by chip.clock"
    return {"figure": "step_seconds", "value": time["total_seconds"], "unit": "s", "formula": formula, "terms": terms}


def _rate(parts: Parts, time: dict[str, Any]) -> dict[str, Any]:
    seconds = time["total_seconds"]
    return {
        "figure": "samples_per_second",
        "value": parts.samples / seconds,
        "unit": "samples/s",
        "formula": "samples of a step by step_seconds",
        "terms": [
            {"name": "samples of a step", "value": parts.samples, "unit": "samples", "formula": "", "constants": []}
        ],
    }


def _fit(parts: Parts) -> dict[str, Any]:
    held = {name: int(column[parts.memory.worst_tile]) for name, column in parts.memory.by_tile.items()}
    terms = [
        {"name": name, "value": amount, "unit": "B", "formula": HELD[name][0], "constants": list(HELD[name][1])}
        for name, amount in held.items()
        if amount
    ]
    return {
        "figure": "memory.worst_tile.bytes",
        "value": sum(held.values()),
        "unit": "B",
        "formula": "bytes of the fullest tile at the step where it is fullest, against tile.memory",
        "terms": terms,
    }
