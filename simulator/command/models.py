"""``python -m simulator models [NAME]``: the built-in models, their options, and how the source of each runs it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from simulator.command.options import Parser
from simulator.command.outcome import guarded
from simulator.zoo.catalogue import ZOO, ZooModel, find

WIDEST = 26


def main(arguments: Sequence[str]) -> int:
    """Exit status 0, or 2 for an unknown name."""
    return guarded(lambda: _main(list(arguments)), as_json="--json" in arguments)


def _main(words: list[str]) -> int:
    parser = Parser(
        prog="python -m simulator models",
        description="The built-in models; with NAME its options, and a published run as a file for --config.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="one of them, such as bert-large")
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    options = parser.parse_args(words)
    chosen = [find(options.name)] if options.name else list(ZOO)
    if options.json:
        print(json.dumps([model.to_dict() for model in chosen]), flush=True)
    else:
        print(worded(chosen[0]) if options.name else table(chosen), flush=True)
    return 0


def table(models: Sequence[ZooModel]) -> str:
    """One line a model: id, parameters, name, options."""
    lines = [f"{'model':<{WIDEST}}{'parameters':>14}  name and options (--dim NAME=N)"]
    for model in models:
        options = f" ({', '.join(model.options)})" if model.options else ""
        lines.append(f"{model.id:<{WIDEST}}{model.parameters:>14,}  {model.name}{options}")
    return "\n".join(lines)


def worded(model: ZooModel) -> str:
    """All that is known of one model. Everything but the settings of its run is a comment, so that it can be a file."""
    about = [
        f"{model.id}: {model.name}, {model.parameters:,} parameters",
        " ".join(model.description.split()),
        f"Shapes: {model.source}",
        *(
            f"Option {name}, usually {usual or 'left to the model'}: --dim {name}=N"
            for name, usual in model.options.items()
        ),
        *(f"Note: {' '.join(text.split())}" for _, text in model.remarks),
        f"Run: {model.run.source}",
    ]
    settings = {"model": model.id, **model.run.config}
    return "\n".join([*(f"# {line}" for line in about), *(f"{key}: {json.dumps(v)}" for key, v in settings.items())])
