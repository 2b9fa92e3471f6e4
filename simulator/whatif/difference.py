"""What changed between two outcomes and why: a sentence for each setting and for each cause of the time."""

from __future__ import annotations

from typing import Any

from simulator.report.causes import causes, telling
from simulator.report.compare import Headline, headline
from simulator.report.text import note_lines
from simulator.units import worded_bytes, worded_seconds
from simulator.whatif.outcome import Outcome

SCHEMA = "podium.whatif/1"
NOTHING_CHANGED = "Nothing is changed: every setting has this value already."
# what a setting does, said after its two values
DOES = {
    "batch": "work and activations follow the micro-batch; barriers, code and weights do not",
    "accumulation": "gradients are summed over replicas and weights updated once for all of these micro-batches",
    "partials": "matrix products accumulate in another precision: rate of the matrix unit and bytes of partial sums",
    "precision": "bytes of weights and activations, and the rate of every unit",
    "available_memory_proportion": "matrix products may use more or less of a tile, in fewer or more serial steps",
    "recompute": "activations are kept, or forward work is done again for the backward pass",
    "checkpoints": "outputs that are kept although the rest is recomputed",
    "system": "another machine: more or fewer replicas share a step, over other links",
    "ipus": "more or fewer replicas share a step: collectives grow with them, work of a replica does not",
    "replicas": "more or fewer replicas share a step: collectives grow with them, work of a replica does not",
    "stages": "the model is divided over more or fewer IPUs: a pipeline fills and drains, memory is shared",
    "splits": "stages begin elsewhere: the slowest and the fullest IPU may change",
    "schedule": "forward and backward work of micro-batches take turns differently: bubbles and stashes change",
    "optimiser": "state beside the weights, and the work of an update",
    "state_precision": "bytes of the optimiser's state",
    "shard_optimiser": "each replica keeps a share of the optimiser's state and gathers updated weights",
    "offload": "the optimiser's state lies in streaming memory and crosses to the IPU for each update",
    "sdk": "older releases take longer for the same work",
    "framework": "fusion, saved tensors and the host's loop are those of another framework",
    "host_input": "bytes that the host sends for each sample",
    "device_iterations": "steps that share one call of the host",
}
OF_MACHINE = {
    "chip": "every cycle of the chip is longer or shorter; links, hosts and memory keep their rates",
    "tile": "what a tile holds and does at once: plans and memory are made anew",
    "amp": "the matrix unit: plans are made anew",
    "exchange": "moving data between tiles: plans are made anew",
    "sync": "what a barrier costs",
    "links": "traffic between IPUs; work inside an IPU stays",
    "host": "transfers with the host; the rest stays",
    "streaming": "traffic with streaming memory",
    "fitted": "a scale of the model itself: plans stay, prices change",
}


def difference(before: Outcome, after: Outcome) -> dict[str, Any]:
    """JSON-able: figures before and after, ``changes`` and ``causes`` with a sentence each, ``sentence`` over all."""
    made = changes(before, after)
    told = telling(causes(before.spending, after.spending), after.step_seconds - before.step_seconds)
    return {
        "schema": SCHEMA,
        "sentence": headline(_headline(before), _headline(after), told[0].worded() if told else None)
        if made
        else NOTHING_CHANGED,
        "changes": made,
        "step_change": after.step_seconds / before.step_seconds - 1,
        "throughput_change": after.samples_per_second / before.samples_per_second - 1,
        "before": before.to_dict(),
        "after": after.to_dict(),
        "causes": [cause.to_dict() for cause in told],
        "memory": _memory(before, after),
    }


def _headline(outcome: Outcome) -> Headline:
    return Headline(outcome.step_seconds, outcome.samples_per_second, outcome.global_batch)


def changes(before: Outcome, after: Outcome) -> list[dict[str, Any]]:
    """Every setting that differs, machine constants one by one."""
    old, new = (_flat(each.config.to_dict()) for each in (before, after))
    found = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if was != now:
            found.append({"name": name, "before": was, "after": now, "text": _text(name, was, now)})
    return found


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    inner = {f"{outer}.{name}": value for outer in ("machine", "dims") for name, value in config[outer].items()}
    return {**{name: value for name, value in config.items() if name not in ("machine", "dims")}, **inner}


def _text(name: str, was: Any, now: Any) -> str:
    section = name.split(".")[1] if name.startswith("machine.") else ""
    why = OF_MACHINE.get(section) if section else DOES.get(name)
    said = f"{name.removeprefix('machine.')} {_word(was)} -> {_word(now)}"
    return f"{said}: {why}" if why else said


def _word(value: Any) -> str:
    if value is None:
        return "as it is"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _memory(before: Outcome, after: Outcome) -> dict[str, Any]:
    moved = {name: after.totals[name] - before.totals.get(name, 0) for name in after.totals}
    most = max(moved, key=lambda name: abs(moved[name]))
    change = after.fullest - before.fullest
    said = f"The fullest tile holds {worded_bytes(after.fullest)} of {worded_bytes(after.bytes_per_tile)}"
    if change or moved[most]:
        said += f", {worded_bytes(abs(change))} {'more' if change >= 0 else 'less'} than before"
        said += f"; {most.replace('_', ' ')} {'grew' if moved[most] > 0 else 'shrank'} most" if moved[most] else ""
    else:
        said += ", as before"
    return {"fits": [before.fits, after.fits], "fullest": [before.fullest, after.fullest], "sentence": said + "."}


def worded(found: dict[str, Any]) -> str:
    """A difference as plain text for a terminal."""
    was, now = found["before"], found["after"]
    lines = [found["sentence"]]
    lines += [f"  {change['text']}."[:200] for change in found["changes"]]
    low, high = now["intervals"]["samples_per_second"]
    lines.append(
        f"  throughput {was['samples_per_second']:,.1f} -> {now['samples_per_second']:,.1f} samples/s"
        f" ({found['throughput_change']:+.1%})  [{low:,.0f} to {high:,.0f}]"
    )
    for name in now["parts"]:
        old, new = was["parts"].get(name, 0.0), now["parts"][name]
        if old or new:
            lines.append(f"  {name:<12}{worded_seconds(old):>10} -> {worded_seconds(new)}")
    lines += [f"  - {cause['text']}." for cause in found["causes"]]
    if not now["fits"]:
        lines.append(f"  It DOES NOT FIT: the fullest tile is over by {worded_bytes(now['over_by'])}.")
    lines.append(f"  {found['memory']['sentence']}")
    return "\n".join([*lines, *(note_lines(found) if "notes" in found else [])])
