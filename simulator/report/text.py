"""A report as plain text for a terminal. It reads nothing but the report."""

from __future__ import annotations

from typing import Any

from simulator.units import worded_bytes, worded_seconds

ROWS = 10
BAR = 30


def worded(report: dict[str, Any]) -> str:
    """About thirty lines: headline, memory, time, operators, notes."""
    return "\n".join(
        [*_headline(report), "", *_memory(report), "", *_time(report), "", *_operators(report), *_end(report)]
    )


def plain(text: str) -> str:
    """Names of users without control characters, which could move the cursor or colour the terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _headline(report: dict[str, Any]) -> list[str]:
    parallel, config, model = report["parallel"], report["config"], report["model"]
    low, high = report["intervals"]["step_seconds"]
    slow, fast = report["intervals"]["samples_per_second"]
    what = "training" if config["task"] == "train" else "inference"
    name = plain(model["name"])
    return [
        f"{name}: {what} on {parallel['system']}, {parallel['ipus']} IPUs, {config['precision']} (simulated)",
        f"  {model['parameters']:,} parameters; {parallel['replicas']} replicas x micro-batch {parallel['micro_batch']}"
        f" = global batch {parallel['global_batch']}",
        f"  step         {worded_seconds(report['step_seconds'])}  [{worded_seconds(low)} to {worded_seconds(high)}]",
        f"  throughput   {report['samples_per_second']:,.0f} samples/s  [{slow:,.0f} to {fast:,.0f}]",
        f"  interval     {report['intervals']['basis']}",
    ]


def _bar(share: float) -> str:
    return "#" * round(share * BAR)


def _memory(report: dict[str, Any]) -> list[str]:
    memory = report["memory"]
    worst, limit = memory["worst_tile"], memory["bytes_per_tile"]
    verdict = "fits" if report["fits"] else "DOES NOT FIT"
    lines = [
        f"Memory: {verdict}. Fullest tile {worst['tile']}: {worded_bytes(worst['bytes'])} of {worded_bytes(limit)}"
        f" ({worst['bytes'] / limit:.0%}); {worded_bytes(memory['total_bytes'])} over {memory['tiles']} tiles"
    ]
    for name in memory["categories"]:
        total = memory["totals"][name]
        if total:
            on_worst = memory["by_tile"][name][worst["tile"]]
            lines.append(
                f"  {name:<16}{worded_bytes(total):>12}{worded_bytes(on_worst):>14} on it  {_bar(on_worst / limit)}"
            )
    over = memory["overflow"]
    if over is not None:
        lines.append(
            f"  Tile {over['tile']} is over by {worded_bytes(over['over_by'])} at step {over['step']}. To make it fit:"
        )
        lines += [f"    - {remedy['text']}" for remedy in over["remedies"]]
    return lines


def _time(report: dict[str, Any]) -> list[str]:
    time = report["time"]
    lines = [f"Time: {plain(time['sentence'])}"]
    for name in ("compute", "exchange", "sync", "host", "collective"):
        seconds = time[f"{name}_seconds"]
        if seconds:
            share = seconds / time["total_seconds"]
            lines.append(f"  {name:<16}{worded_seconds(seconds):>12}{share:>8.1%}  {_bar(share)}")
    return lines


def _operators(report: dict[str, Any]) -> list[str]:
    lines = [f"  {'operator':<34}{'pass':<10}{'kind':<12}{'time':>10}{'share':>8}  bound by"]
    for row in report["operators"][:ROWS]:
        name = plain(row["name"])
        name = name if len(name) <= 32 else name[:31] + "…"
        lines.append(
            f"  {name:<34}{row['pass']:<10}{row['kind']:<12}{worded_seconds(row['seconds']):>10}{row['share']:>8.1%}"
            f"  {row['bound_by']}"
        )
    left = len(report["operators"]) - ROWS
    return lines + ([f"  and {left} more"] if left > 0 else [])


def _end(report: dict[str, Any]) -> list[str]:
    coverage = report["coverage"]
    lines = [f"Coverage: {coverage['share_of_time_modelled']:.1%} of the time is modelled."]
    for item in coverage["fallbacks"][:ROWS]:
        lines.append(f"  by fallback: {item['op']} x {item['count']} in {plain(item['source']) or 'the step itself'}")
    lines += [f"Note ({note['code']}): {note['message']}" for note in report["notes"]]
    return lines
