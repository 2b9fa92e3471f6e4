"""``python -m tests.bench [--times N] [--quick]``: the table of speed and memory, ours and the peers'."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from tests.bench.cases import COMMANDS, Measurement, commands, in_process

PEERS = Path(__file__).with_name("peers.csv")


def table(found: list[Measurement]) -> list[str]:
    """Ours, with what is aimed at and kept."""
    lines = [f"{'what':<22}{'CPU':>10}{'peak':>9}  {'aim / must':<22}"]
    for each in found:
        limits = each.limits
        kept = "" if limits.aim is None else f"{_seconds(limits.aim)} / {_seconds(limits.must or 0)}"
        kept += "" if limits.aim_mb is None else f", {limits.aim_mb:.0f} / {limits.must_mb:.0f} MB"
        peak = "" if each.peak_mb is None else f"{each.peak_mb:.0f} MB"
        lines.append(f"{each.name:<22}{_seconds(each.cpu_seconds):>10}{peak:>9}  {kept:<34}{each.verdict}".rstrip())
    return lines


def growth(found: list[Measurement]) -> list[str]:
    """What 65,536 IPUs take beside 64."""
    named = {each.name: each for each in found}
    few, many = named.get("resnet50-pod64"), named.get("resnet50-pod65536")
    if few is None or many is None or not few.peak_mb or not many.peak_mb:
        return []
    time, memory = many.cpu_seconds / few.cpu_seconds, many.peak_mb / few.peak_mb
    verdict = "aim reached" if max(time, memory) <= 1.1 else "kept" if max(time, memory) < 2 else "too much"
    return [f"64 to 65,536 IPUs: {time:.2f} times the time, {memory:.2f} times the memory (aim 1.1, must 2): {verdict}"]


def beside(found: list[Measurement]) -> list[str]:
    """Peers' figures for like work, and how many times ours they are."""
    ours = {each.name: each for each in found}
    lines = []
    with PEERS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            mine = ours.get(row["beside"])
            if mine is None:
                continue
            theirs = float(row["cpu_s"] or row["wall_s"])
            lines.append(
                f"{row['peer']} {row['version']}, {row['workload']}: {theirs:g} s, "
                f"{theirs / mine.cpu_seconds:.3g} times ours ({mine.name}). {row['source']}"
            )
    return lines


def _seconds(amount: float) -> str:
    return f"{amount:.2f} s" if amount >= 1 else f"{amount * 1000:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="runs of each command; the least disturbed counts")
    parser.add_argument("--quick", action="store_true", help="once, and only what has limits")
    options = parser.parse_args()
    names = tuple(name for name, (_, limits) in COMMANDS.items() if limits.aim or not options.quick)
    found = commands(names, 1 if options.quick else options.times) + in_process("zoo:resnet50")
    print("\n".join([*table(found), *growth(found), "", *beside(found)]))


if __name__ == "__main__":
    main()
