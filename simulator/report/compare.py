"""What changed between two reports and why, in sentences. It reads nothing but the two reports."""

from __future__ import annotations

from typing import Any, NamedTuple

from simulator.report.causes import causes, spending_of, telling
from simulator.report.text import plain
from simulator.units import worded_bytes, worded_seconds

SCHEMA = "podium.comparison/1"
SAME = 5e-5  # relative: less is not told
PARTS = ("compute", "exchange", "sync", "copy", "host", "collective", "bubble")


def compare(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The differences of two reports as JSON-able data; ``sentence`` is the headline."""
    was, now = float(before["step_seconds"]), float(after["step_seconds"])
    told = telling(causes(spending_of(before), spending_of(after)), now - was)
    settings = _settings(before, after)
    memory = _memory(before, after)
    return {
        "schema": SCHEMA,
        "step_seconds": [was, now],
        "step_change": now / was - 1,
        "samples_per_second": [before["samples_per_second"], after["samples_per_second"]],
        "throughput_change": after["samples_per_second"] / before["samples_per_second"] - 1,
        "fits": [before["fits"], after["fits"]],
        "settings": settings,
        "parts": _parts(before, after),
        "causes": [cause.to_dict() for cause in told],
        "memory": memory,
        "sentence": headline(_headline(before), _headline(after), told[0].worded() if told else None),
    }


class Headline(NamedTuple):
    """The figures of a step that a comparison begins with."""

    step_seconds: float
    samples_per_second: float
    global_batch: int


def _headline(report: dict[str, Any]) -> Headline:
    return Headline(report["step_seconds"], report["samples_per_second"], report["parallel"]["global_batch"])


def headline(before: Headline, after: Headline, first: str | None) -> str:
    """How much longer a step takes, and its ``first`` cause."""
    was, now = before.step_seconds, after.step_seconds
    if abs(now / was - 1) < SAME:
        return "The step takes the same time."
    said = f"{now / was - 1:+.1%} step time ({worded_seconds(was)} to {worded_seconds(now)})"
    if before.global_batch != after.global_batch:
        said += f", {after.samples_per_second / before.samples_per_second - 1:+.1%} samples a second"
    return f"{said}: {first}." if first else f"{said}."


def _settings(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    names = list(dict.fromkeys([*before["config"], *after["config"]]))
    pairs = [(name, before["config"].get(name), after["config"].get(name)) for name in names]
    return [{"name": name, "before": old, "after": new} for name, old, new in pairs if old != new]


def _parts(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name in PARTS:
        old, new = (report["time"].get(f"{name}_seconds", 0.0) for report in (before, after))
        if old or new:
            found.append({"name": name, "before": old, "after": new})
    return found


def _memory(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    old, new = before["memory"], after["memory"]
    categories = [
        {"name": name, "before": old["totals"].get(name, 0), "after": new["totals"].get(name, 0)}
        for name in dict.fromkeys([*old["categories"], *new["categories"]])
        if old["totals"].get(name, 0) != new["totals"].get(name, 0)
    ]
    worst = [{"tile": m["worst_tile"]["tile"], "bytes": m["worst_tile"]["bytes"]} for m in (old, new)]
    return {
        "worst_tile": worst,
        "total_bytes": [old["total_bytes"], new["total_bytes"]],
        "categories": categories,
        "tiles_fuller": _fuller(old, new),
        "sentence": _memory_sentence(worst, categories),
    }


def _fuller(old: dict[str, Any], new: dict[str, Any]) -> int | None:
    """Tiles that hold more than before; None where the chips differ."""
    if old["tiles"] != new["tiles"]:
        return None
    held = [[sum(tile) for tile in zip(*memory["by_tile"].values(), strict=True)] for memory in (old, new)]
    return sum(now > was for was, now in zip(*held, strict=True))


def _memory_sentence(worst: list[dict[str, Any]], categories: list[dict[str, Any]]) -> str:
    change = worst[1]["bytes"] - worst[0]["bytes"]
    if not change and not categories:
        return "Memory is the same."
    said = f"The fullest tile holds {worded_bytes(abs(change))} {'more' if change >= 0 else 'less'}"
    if worst[0]["tile"] != worst[1]["tile"]:
        said += f" (tile {worst[0]['tile']} before, {worst[1]['tile']} now)"
    if categories:
        most = max(categories, key=lambda row: abs(row["after"] - row["before"]))
        moved = most["after"] - most["before"]
        said += (
            f"; over all tiles {most['name']} {'grew' if moved > 0 else 'shrank'} most, by {worded_bytes(abs(moved))}"
        )
    return said + "."


def worded(comparison: dict[str, Any]) -> str:
    """A comparison as plain text for a terminal."""
    lines = [plain(comparison["sentence"])]
    lines += [f"  {row['name']}: {row['before']} -> {row['after']}"[:200] for row in comparison["settings"]]
    rates = comparison["samples_per_second"]
    lines.append(f"  throughput {rates[0]:,.1f} -> {rates[1]:,.1f} samples/s ({comparison['throughput_change']:+.1%})")
    lines += [
        f"  {row['name']:<12}{worded_seconds(row['before']):>10} -> {worded_seconds(row['after'])}"
        for row in comparison["parts"]
    ]
    lines += [f"  - {plain(cause['text'])}." for cause in comparison["causes"]]
    was, now = comparison["fits"]
    if was != now:
        lines.append("  It fits now." if now else "  It DOES NOT FIT any more.")
    return "\n".join([*lines, f"  {comparison['memory']['sentence']}"])
