"""``python -m simulator whatif MODEL --set batch=32``: the difference that other settings make, and why."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simulator.command.options import Parser, add_settings, model_of, one_setting, settings_of
from simulator.command.outcome import guarded, progress
from simulator.errors import EXIT_DOES_NOT_FIT, SimulatorError

ABOUT = "What other settings or machine constants would change, and why. All results are simulated."
EPILOG = (
    "exit status: 0 it fits, 2 bad model or settings, 3 it does not fit with the changes, 5 a fault of the simulator"
)


def main(arguments: Sequence[str]) -> int:
    """Run, print, and return the exit status."""
    return guarded(lambda: _main(list(arguments)), as_json="--json" in arguments)


def _main(words: list[str]) -> int:
    parser = Parser(prog="python -m simulator whatif", description=ABOUT, epilog=EPILOG)
    parser.add_argument("model", metavar="MODEL", nargs="?", help="an .onnx file, or zoo:NAME such as zoo:mnist")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", required=True,
        help="a setting to change: batch=32, partials=fp16, machine.chip.clock=1.85e9, dims.sequence=384",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the difference as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_settings(parser)
    options = parser.parse_args(words)
    settings, changes = settings_of(options, as_published=True), together(options.set)
    model = model_of(options)
    from simulator.whatif.difference import worded  # after the options: JAX takes half a second to import
    from simulator.whatif.session import Session

    session = Session(
        model, settings.config, origins=settings.origins, on_progress=None if options.quiet else progress()
    )
    began = time.process_time()
    found = session.what_if(changes)
    found["notes"] = session.notes(changes) + replace(settings, given=settings.given | frozenset(changes)).notes
    found["simulation"] = {"cpu_seconds": time.process_time() - began}
    print(json.dumps(found) if options.json else worded(found), flush=True)
    return 0 if found["after"]["fits"] else EXIT_DOES_NOT_FIT


def together(texts: Sequence[str]) -> Mapping[str, Any]:
    """Changes of several ``NAME=VALUE``; constants of a machine and dimensions are gathered.

    Raises ``config.invalid`` for a name that is there twice.
    """
    changes: dict[str, Any] = {}
    seen: set[str] = set()
    for text in texts:
        name, value = one_setting(text)
        for each in [f"{name}.{inner}" for inner in value] if isinstance(value, dict) else [name]:
            if each in seen:
                said = f"'{each:.60}' is set twice. Give each setting one value."
                raise SimulatorError("config.invalid", said, params={"field": each[:60], "legal": "one value"})
            seen.add(each)
        changes[name] = {**changes.get(name, {}), **value} if isinstance(value, dict) else value
    return changes
