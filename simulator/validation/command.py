"""``./podium validate [--figures CSV] [--configs YAML] [--json FILE]``: the error table against published figures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from simulator.command.options import Parser
from simulator.command.outcome import guarded, writable, written

ABOUT = (
    "Predict every row of a file of published figures, and compare. Predictions see neither ids, notes nor values; "
    "constants were fitted on the file that comes with Podium alone. All predictions are simulated."
)


def parser() -> argparse.ArgumentParser:
    found = Parser(prog="podium validate", description=ABOUT)
    found.add_argument("--figures", type=Path, metavar="CSV", help="published figures (those that come with Podium)")
    found.add_argument("--configs", type=Path, metavar="YAML", help="published run configurations (those of Podium)")
    found.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON, '-' for standard output")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 when the table could be made, whatever it says."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _validate(parser().parse_args(words)), as_json=False)


def _validate(options: argparse.Namespace) -> int:
    from simulator.validation.configurations import read_configurations
    from simulator.validation.figures import read_figures
    from simulator.validation.predictions import judge
    from simulator.validation.runs import Runs
    from simulator.validation.table import lines, to_json

    writable(options.json, read=(options.figures, options.configs))
    figures, known = read_figures(options.figures), read_configurations(options.configs)
    judged = judge(figures, known, Runs())
    on_output = options.json is not None and str(options.json) == "-"
    if options.json is not None:
        text = json.dumps(to_json(judged), indent=1)
        if on_output:
            print(text)
        else:
            written(options.json, text + "\n")
    for line in lines(judged):
        print(line, file=sys.stderr if on_output else sys.stdout)
    return 0
