"""``python -m simulator.validation.fit``: fit the constants on the figures that come with Podium, and say how well.

Writes ``machines/fitted.yaml`` and ``report/residuals.yaml`` (the pool that intervals are made of), always the same for
the same figures and engine. ``--dry`` only prints.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import simulator
from simulator.command.outcome import guarded
from simulator.machines.constants import NAMES
from simulator.report.intervals import widening
from simulator.validation.configurations import read_configurations
from simulator.validation.figures import read_figures
from simulator.validation.fitting import Fit, fit, left_out, rows_of
from simulator.validation.predictions import doubts
from simulator.validation.runs import Runs
from simulator.validation.scores import percentile

PACKAGE = Path(simulator.__file__).parent
FITTED, RESIDUALS = PACKAGE / "machines" / "fitted.yaml", PACKAGE / "report" / "residuals.yaml"
DIGITS = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 when constants were found."""
    options = argparse.ArgumentParser(prog="python -m simulator.validation.fit", description=__doc__)
    options.add_argument("--dry", action="store_true", help="print, write nothing")
    chosen = options.parse_args(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _fit(chosen.dry), as_json=False)


def _fit(dry: bool) -> int:
    runs = Runs()
    rows = rows_of(read_figures(), read_configurations(), runs)
    found = fit(rows, runs)
    outside = left_out(found)
    wider = np.array([widening(doubts(row.case, runs))[0] for row in found.rows])
    for line in report(found, outside):
        print(line)
    if not dry:
        FITTED.write_text(with_values(FITTED.read_text("utf-8"), found), "utf-8")
        RESIDUALS.write_text(with_residuals(RESIDUALS.read_text("utf-8"), outside / wider, found), "utf-8")
    return 0


def report(found: Fit, outside: np.ndarray) -> list[str]:
    """The constants, the error of each group fitted and left out, and both pooled."""
    said = [f"{len(found.rows)} rows of {len({row.group for row in found.rows})} groups (source and family)", ""]
    said += [f"  {name:<13} {getattr(found.constants, name):.4g}" for name in NAMES]
    said += ["", f"{'rows':>5} {'fitted':>8} {'left out':>9}  group (median absolute error)"]
    groups = [row.group for row in found.rows]
    for group in sorted(set(groups)):
        here = np.array([each == group for each in groups])
        inside, out = _median(found.residuals[here]), _median(outside[here])
        said.append(f"{int(here.sum()):>5} {inside:>7.1f}% {out:>8.1f}%  {group}")
    for name, residuals in (("fitted", found.residuals), ("leaving a group out", outside)):
        sizes = (100 * np.abs(np.expm1(residuals))).tolist()
        middle, ninetieth = percentile(sizes, 0.5), percentile(sizes, 0.9)
        said.append(f"{name}: median {middle:.1f} %, 90th percentile {ninetieth:.1f} %, worst {max(sizes):.1f} %")
    return said


def _median(residuals: np.ndarray) -> float:
    return float(np.median(np.abs(np.expm1(residuals)))) * 100


def with_values(text: str, found: Fit) -> str:
    """The constants' file with new values; bounds, units and sources of its lines stay."""
    count = len(found.rows)
    for name in NAMES:
        value = f"{getattr(found.constants, name):.{DIGITS}g}"
        line = re.compile(rf"^({name}: \{{value: )[^,]+(,.*confidence: )\w+", re.MULTILINE)
        text, changed = line.subn(rf"\g<1>{float(value)}\g<2>fitted", text)
        if changed != 1:
            raise ValueError(f"{FITTED} has no line for {name}")
    return (
        re.sub(r"^# fitted on .*\n", "", text, flags=re.MULTILINE).rstrip("\n")
        + f"\n# fitted on {count} rows of validation/figures.csv\n"
    )


def with_residuals(text: str, outside: np.ndarray, found: Fit) -> str:
    """The intervals' file with a new pool: residuals over what their rows' doubts widen an interval by.

    Frameworks are those of the rows: any other is unseen.
    """
    seen = ", ".join(sorted({row.case.config.framework for row in found.rows if not row.case.place.gpu}))
    text = re.sub(r"^frameworks: .*$", f"frameworks: [{seen}]", text, flags=re.MULTILINE)
    listed = ", ".join(f"{each:.4f}" for each in sorted(outside.tolist()))
    return re.sub(r"^log_residuals: .*$", f"log_residuals: [{listed}]", text, flags=re.MULTILINE)


if __name__ == "__main__":
    sys.exit(main())
