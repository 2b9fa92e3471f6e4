"""``python -m simulator MODEL --system pod16``: one report. Exit 0 it fits, 2 bad input, 3 it does not fit, 5 ours.

A first word of ``COMMANDS`` runs that command instead; each lives in its own package and is imported only then.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from simulator.command.options import Parser, add_settings, model_of, settings_of
from simulator.command.outcome import guarded, progress, writable, written
from simulator.command.watched import watched
from simulator.errors import EXIT_DOES_NOT_FIT, SimulatorError

# first word -> module with main(arguments) -> exit status
COMMANDS: dict[str, str] = {
    "models": "simulator.command.models",
    "serve": "simulator.serving.command",
    "compare": "simulator.command.compare",
    "whatif": "simulator.whatif.command",
    "plan": "simulator.search.command",
    "validate": "simulator.validation.command",
}
ABOUT = (
    "Simulate one step of a model on a slice of an IPU system: time, memory, what binds it. All results are simulated."
)
EPILOG = "exit status: 0 it fits, 2 bad model or settings, 3 it does not fit in memory, 5 a fault of the simulator"


def parser() -> argparse.ArgumentParser:
    """The options of the command line, one for each setting that changes a report."""
    others = f" Other commands: {', '.join(COMMANDS)} (each has its own --help)." if COMMANDS else ""
    found = Parser(prog="python -m simulator", description=ABOUT + others, epilog=EPILOG)
    found.add_argument(
        "model", metavar="MODEL", nargs="?", help="an .onnx file, or zoo:NAME such as zoo:mnist (models lists them)"
    )
    found.add_argument("--json", action="store_true", help="print the whole report, or the error, as JSON")
    found.add_argument("--html", type=Path, metavar="FILE", help="write the report as one page that needs no network")
    found.add_argument("--trace", type=Path, metavar="FILE", help="write the time line, to open at ui.perfetto.dev")
    found.add_argument("--csv", type=Path, metavar="FILE", help="write the operators as a table")
    found.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_settings(found)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] == "simulate":  # the launcher's word for what is done without one
        words = words[1:]
    if words and words[0] in COMMANDS:
        status: int = import_module(COMMANDS[words[0]]).main(words[1:])
        return status
    return guarded(lambda: _simulate(words), as_json="--json" in words)


def _simulate(words: list[str]) -> int:
    options = parser().parse_args(words)
    settings = settings_of(options, as_published=True)
    model = model_of(options)
    writable(options.html, options.trace, options.csv, read=(model, options.config))
    from simulator.pipeline import simulate  # after the options: JAX takes half a second to import

    tell = None if options.quiet else progress()
    try:
        report = simulate(model, settings.config, origins=settings.origins, on_progress=tell)
    except SimulatorError as error:
        if error.code != "config.batch_fixed" or "batch" in settings.given:
            raise
        config = replace(settings.config, batch=error.params["batch"])  # nobody gave one: the model's own
        report = simulate(model, config, origins=settings.origins, on_progress=tell)
    report["notes"] += settings.notes
    _export(report, options)
    _print(report, options.json)
    return 0 if report.fits else EXIT_DOES_NOT_FIT


def _export(report: dict[str, Any], options: argparse.Namespace) -> None:
    for path, module, function in (
        (options.html, "simulator.report.html", "page"),
        (options.trace, "simulator.report.perfetto", "trace"),
        (options.csv, "simulator.report.table", "csv_of"),
    ):
        if path is not None:
            written(path, getattr(import_module(module), function)(report))


def _print(report: dict[str, Any], as_json: bool) -> None:
    from simulator.report.text import worded

    print(json.dumps(report) if as_json else worded(report), flush=True)


if __name__ == "__main__":
    sys.exit(watched(main, as_json="--json" in sys.argv))
