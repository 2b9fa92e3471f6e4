"""``python -m simulator MODEL --system pod16``: one report. Exit 0 it fits, 2 bad input, 3 it does not fit, 5 ours."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from simulator.config import CHOICES, RunConfig
from simulator.errors import EXIT_DOES_NOT_FIT, EXIT_PLATFORM, SimulatorError

DEFAULTS = RunConfig()
ABOUT = (
    "Simulate one step of a model on a slice of an IPU system: time, memory, what binds it. All results are simulated."
)
EPILOG = "exit status: 0 it fits, 2 bad model or settings, 3 it does not fit in memory, 5 a fault of the simulator"


def parser() -> argparse.ArgumentParser:
    """The options of the command line, one for each setting that changes a report."""
    found = argparse.ArgumentParser(prog="python -m simulator", description=ABOUT, epilog=EPILOG)
    found.add_argument("model", metavar="MODEL", help="an .onnx file, or zoo:NAME such as zoo:mnist")
    found.add_argument(
        "--system", default=DEFAULTS.system, help="m2000, pod4, pod16, pod64, pod128, pod256, or ipus:N (%(default)s)"
    )
    found.add_argument("--ipus", type=int, help="IPUs of the slice, a power of two (all of the system)")
    found.add_argument("--task", choices=CHOICES["task"], default=DEFAULTS.task, help="(%(default)s)")
    found.add_argument("--batch", type=int, default=DEFAULTS.batch, help="micro-batch of one replica (%(default)s)")
    found.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="size of a symbolic dimension")
    found.add_argument("--precision", choices=CHOICES["precision"], default=DEFAULTS.precision, help="(%(default)s)")
    found.add_argument("--partials", choices=CHOICES["partials"], default=DEFAULTS.partials, help="(%(default)s)")
    found.add_argument("--optimiser", choices=CHOICES["optimiser"], default=DEFAULTS.optimiser, help="(%(default)s)")
    found.add_argument(
        "--available-memory-proportion", type=float, default=DEFAULTS.available_memory_proportion, metavar="SHARE",
        help="most of a tile's memory that a matrix product may use while it runs (%(default)s)",
    )  # fmt: skip
    found.add_argument("--json", action="store_true", help="print the whole report, or the error, as JSON")
    found.add_argument("--quiet", action="store_true", help="no progress on standard error")
    return found


def config_of(options: argparse.Namespace) -> RunConfig:
    """Validated settings. Raises ``config.invalid``."""
    names = ("system", "ipus", "task", "batch", "precision", "partials", "optimiser", "available_memory_proportion")
    return RunConfig(dims=dict(_dim(text) for text in options.dim), **{name: getattr(options, name) for name in names})


def _dim(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal():
        message = f"--dim takes NAME=N, such as sequence=128, not '{text:.60}'."
        raise SimulatorError("config.invalid", message, params={"field": "dims", "legal": "NAME=N"})
    return name, int(size)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return the exit status."""
    options = parser().parse_args(arguments)
    try:
        from simulator.pipeline import simulate  # after the options: JAX takes half a second to import

        report = simulate(options.model, config_of(options), on_progress=None if options.quiet else _progress())
    except SimulatorError as error:
        _print_error(error.to_dict(), options.json)
        return error.exit_code
    except Exception:
        traceback.print_exc()
        message = "The simulator failed in a way nobody foresaw. This is a fault of ours, not of the model."
        _print_error({"code": "internal", "message": message, "owner": "platform", "params": {}}, options.json)
        return EXIT_PLATFORM
    _print_report(report, options.json)
    return 0 if report.fits else EXIT_DOES_NOT_FIT


def _progress() -> Any:
    """Progress on one line of a terminal; nothing when standard error is a file."""
    if not sys.stderr.isatty():
        return None

    def tell(phase: str, fraction: float) -> None:
        end = "\r" if (phase, fraction) != ("report", 1.0) else "\r" + " " * 30 + "\r"
        print(f"{phase:<12}{fraction:>5.0%}", end=end, file=sys.stderr, flush=True)

    return tell


def _print_error(error: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": error}))
    print(f"{error['message']} [{error['code']}]", file=sys.stderr)


def _print_report(report: dict[str, Any], as_json: bool) -> None:
    from simulator.report.text import worded

    try:
        print(json.dumps(report) if as_json else worded(report), flush=True)
    except BrokenPipeError:  # the reader (head, a pager) had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
