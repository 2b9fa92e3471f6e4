"""``python -m simulator compare A.json B.json``: what changed, why, and a status that a pipeline can act on."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from simulator.command.options import Parser
from simulator.command.outcome import guarded
from simulator.errors import SimulatorError
from simulator.report.compare import compare, worded
from simulator.report.reading import read_report

EXIT_SLOWER = 1


def main(arguments: Sequence[str]) -> int:
    """Exit status 0, or 1 when ``--slower-than`` is given and exceeded, or no longer fitting."""
    return guarded(lambda: _main(list(arguments)), as_json="--json" in arguments)


def _main(words: list[str]) -> int:
    parser = Parser(prog="python -m simulator compare", description="What changed between two reports, and why.")
    parser.add_argument("before", type=Path, metavar="BEFORE.json")
    parser.add_argument("after", type=Path, metavar="AFTER.json")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.add_argument(
        "--slower-than", type=float, metavar="PERCENT",
        help="exit with status 1 when samples a second fell by more, or it no longer fits",
    )  # fmt: skip
    options = parser.parse_args(words)
    if options.slower_than is not None and math.isnan(options.slower_than):
        text = "--slower-than cannot be nan. Use a percentage, such as 5."
        raise SimulatorError("config.invalid", text, params={"field": "slower_than", "legal": "a percentage"})
    before, after = read_report(options.before), read_report(options.after)
    try:
        found = compare(before, after)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        text = "One of the two reports was changed after it was written, so they cannot be compared. Write both anew."
        raise SimulatorError("report.invalid", text, params={}) from None
    print(json.dumps(found) if options.json else worded(found), flush=True)
    if options.slower_than is None:
        return 0
    lost = found["fits"] == [True, False]
    return EXIT_SLOWER if lost or found["throughput_change"] < -options.slower_than / 100 else 0
