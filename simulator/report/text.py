"""A report as plain text for a terminal. It reads nothing but the report."""

from __future__ import annotations

from typing import Any

from simulator.units import worded_bytes, worded_seconds

ROWS = 10
TENSORS_SHOWN = 3
BAR = 30
PARTS = ("compute", "exchange", "sync", "copy", "host", "collective", "bubble")


def worded(report: dict[str, Any]) -> str:
    """About forty lines: headline, memory, time, stages, operators, notes."""
    blocks = [
        _headline(report),
        memory_lines(report),
        _time(report),
        _stages(report),
        [*_operators(report), *_end(report)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def plain(text: str) -> str:
    """Names of users without control characters, which could move the cursor or colour the terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _short(text: str, most: int) -> str:
    name = plain(text)
    return name if len(name) <= most else name[: most - 1] + "…"


def _headline(report: dict[str, Any]) -> list[str]:
    parallel, config, model = report["parallel"], report["config"], report["model"]
    low, high = report["intervals"]["step_seconds"]
    slow, fast = report["intervals"]["samples_per_second"]
    what = "training" if config["task"] == "train" else "inference"
    where = f"{parallel['system']}, {parallel['ipus']} IPU{'s' * (parallel['ipus'] > 1)}"
    lines = [
        f"{plain(model['name'])}: {what} on {where}, {config['precision']} (simulated)",
        f"  {model['parameters']:,} parameters; global batch {parallel['batch']['equation']}"
        " (micro-batch x accumulation x replicas)",
        f"  step         {worded_seconds(report['step_seconds'])}  [{worded_seconds(low)} to {worded_seconds(high)}]",
        f"  throughput   {report['samples_per_second']:,.0f} samples/s  [{slow:,.0f} to {fast:,.0f}]",
    ]
    if report["latency"] is not None:
        lines.append(f"  latency      {worded_seconds(report['latency']['seconds'])} of one micro-batch, host to host")
    return [*lines, *_costs(report), f"  interval     {report['intervals']['basis']}"]


def _costs(report: dict[str, Any]) -> list[str]:
    costs = report["costs"]
    line = f"  energy       {costs['energy']['joules_a_sample']:.3g} J a sample at {costs['watts']:,.0f} W"
    price = costs["price"]
    told = (
        f"{price['usd_a_million_samples']:.3g} USD a million samples"
        if price
        else costs.get("no_price", "no list price is published")
    )
    return [f"{line}; {told}"]


def _bar(share: float) -> str:
    return "#" * round(share * BAR)


def memory_lines(report: dict[str, Any]) -> list[str]:
    """Whether it fits, the fullest tile by category, and what is over, as the report says it."""
    memory = report["memory"]
    worst, limit = memory["worst_tile"], memory["bytes_per_tile"]
    verdict = "fits" if report["fits"] else "DOES NOT FIT"
    where = f" of IPU {memory['ipu']}" if len(memory["ipus"]) > 1 else ""
    lines = [
        f"Memory: {verdict}. Fullest tile {worst['tile']}{where}: {worded_bytes(worst['bytes'])} of"
        f" {worded_bytes(limit)} ({worst['bytes'] / limit:.0%}); {worded_bytes(memory['total_bytes'])}"
        f" over {memory['tiles']} tiles"
    ]
    for name in memory["categories"]:
        total = memory["totals"][name]
        if total:
            on_worst = memory["by_tile"][name][worst["tile"]]
            lines.append(
                f"  {name:<16}{worded_bytes(total):>12}{worded_bytes(on_worst):>14} on it  {_bar(on_worst / limit)}"
            )
    return lines + _overflow(memory)


def _overflow(memory: dict[str, Any]) -> list[str]:
    over = memory["overflow"]
    if over is None:
        return []
    at = plain(memory["peak_step"]["source"]) or "the step itself"
    by = worded_bytes(over["over_by"])
    lines = [f"  Tile {over['tile']} is over by {by} at step {over['step']}, in {at}. Largest on it:"]
    for tensor in over["tensors"][:TENSORS_SHOWN]:
        origin = f" from {plain(tensor['source'])}" if tensor["source"] else ""
        lines.append(f"    {worded_bytes(tensor['bytes']):>10}  {plain(tensor['name'])}{origin}")
    lines.append("  To make it fit:")
    for remedy in over["remedies"]:
        lines.append(f"    - {plain(remedy['text'])}")
        if "simulated" in remedy:
            lines.append(f"      {remedy['simulated']['sentence']}")
    return [*lines, f"  Poplar would say: {over['poplar_message']}"]


def _time(report: dict[str, Any]) -> list[str]:
    time = report["time"]
    lines = [f"Time: {plain(time['sentence'])}"]
    for name in PARTS:
        seconds = time[f"{name}_seconds"]
        if seconds:
            share = seconds / time["total_seconds"]
            lines.append(f"  {name:<16}{worded_seconds(seconds):>12}{share:>8.1%}  {_bar(share)}")
    return lines


def _stages(report: dict[str, Any]) -> list[str]:
    """Each pipeline stage, when there are several."""
    stages = report["parallel"]["stages"]
    if len(stages) == 1:
        return []
    lines = [f"  {'stage':<6}{'IPU':>4}{'forward':>11}{'backward':>11}{'fullest tile':>14}  begins at"]
    for row in stages:
        lines.append(
            f"  {row['stage']:<6}{row['ipu']:>4}{worded_seconds(row['forward_seconds']):>11}"
            f"{worded_seconds(row['backward_seconds']):>11}{worded_bytes(row['worst_tile_bytes']):>14}"
            f"  {_short(row['begins'], 60)}"
        )
    return lines


def _operators(report: dict[str, Any]) -> list[str]:
    lines = [f"  {'operator':<34}{'pass':<10}{'kind':<12}{'time':>10}{'share':>8}  bound by"]
    for row in report["operators"][:ROWS]:
        lines.append(
            f"  {_short(row['name'], 32):<34}{row['pass']:<10}{row['kind']:<12}{worded_seconds(row['seconds']):>10}"
            f"{row['share']:>8.1%}  {row['bound_by']}"
        )
    left = len(report["operators"]) - ROWS
    return lines + ([f"  and {left} more"] if left > 0 else [])


def _end(report: dict[str, Any]) -> list[str]:
    coverage = report["coverage"]
    lines = [f"Coverage: {coverage['share_of_time_modelled']:.1%} of the time is modelled."]
    for item in coverage["fallbacks"][:ROWS]:
        lines.append(f"  by fallback: {item['op']} x {item['count']} in {plain(item['source']) or 'the step itself'}")
    return [*lines, *settings_lines(report), *note_lines(report)]


def note_lines(report: dict[str, Any]) -> list[str]:
    """What the run says beside its figures, one line each."""
    return [f"Note ({note['code']}): {plain(note['message'])}" for note in report["notes"]]


def settings_lines(report: dict[str, Any]) -> list[str]:
    """Which settings were given, which a published run decided and with what, and that the rest is assumed."""
    origins, config = report["config_origins"], report["config"]
    given = [name for name, origin in origins.items() if origin == "given"]
    lines = [f"Settings given: {', '.join(given) or 'none'}; those not named are assumed."]
    published = [name for name, origin in origins.items() if origin == "published"]
    if published:
        values = ", ".join(f"{name} {_short(_value(config[name]), 40)}" for name in published)
        option = ("batch" if "batch" in published else published[0]).replace("_", "-")
        lines.append(f"Settings of the published run: {values}; give --{option} ... to change.")
    return lines


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
