"""``python -m simulator plan MODEL --system pod16 --goal fastest``: prints the plan as YAML that ``--config`` reads."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import yaml

from simulator.command.options import Parser, Settings, add_settings, model_of, settings_of
from simulator.command.outcome import guarded, progress
from simulator.errors import EXIT_DOES_NOT_FIT, SimulatorError
from simulator.search.answer import ENDS, Answer
from simulator.search.outcome import Goal, Outcome
from simulator.units import worded_bytes, worded_seconds

ABOUT = (
    "Search for the replicas, pipeline stages, micro-batch, recomputation, offload and memory settings that serve a "
    "goal best and fit. Settings that are given stay. Ctrl-C ends the search with the best found so far."
)
EPILOG = (
    "exit status: 0 a plan that fits, 2 bad model or settings, 3 nothing that is legal fits, 4 the search ended before "
    "it met anything that fits, 5 a fault of the simulator"
)
EXIT_ENDED = 4
STATUSES = {"found": 0, "found_so_far": 0, "infeasible": EXIT_DOES_NOT_FIT, "not_found": EXIT_ENDED}
SHOWN = 12  # candidates that lost


def main(arguments: Sequence[str]) -> int:
    """Run, print, and return the exit status."""
    return guarded(lambda: _main(list(arguments)), as_json="--json" in arguments)


def _parser() -> Parser:
    parser = Parser(prog="python -m simulator plan", description=ABOUT, epilog=EPILOG)
    parser.add_argument("model", metavar="MODEL", nargs="?", help="an .onnx file, or zoo:NAME such as zoo:bert-large")
    parser.add_argument(
        "--goal", choices=get_args(Goal), default="fastest", help="least of what, a sample (%(default)s)"
    )
    parser.add_argument("--global-batch", type=int, metavar="N", help="samples of a step over all replicas (open)")
    parser.add_argument("--seconds", type=float, default=120.0, help="end the search after so long (%(default)s)")
    parser.add_argument("--candidates", type=int, default=1000, help="... or after so many (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print the plan, the front and every candidate as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_settings(parser, as_published=False)
    return parser


def _main(words: list[str]) -> int:
    options = _parser().parse_args(words)
    settings = settings_of(options)
    model = model_of(options)
    for name in ("seconds", "candidates", "global_batch"):
        value = getattr(options, name)
        if value is not None and not value > 0:
            text = f"--{name.replace('_', '-')} cannot be {value:g}. Use a number above 0."
            raise SimulatorError("config.invalid", text, params={"field": name})
    from simulator.search.plan import plan  # after the options: JAX takes half a second to import

    answer = plan(
        model,
        settings.config,
        goal=options.goal,
        fixed=_fixed(settings),
        global_batch=options.global_batch,
        seconds=options.seconds,
        candidates=options.candidates,
        on_progress=None if options.quiet else progress(),
        cancelled=_interrupts(),
    )
    answer = replace(answer, notes=(*answer.notes, *((note["code"], note["message"]) for note in settings.notes)))
    print(json.dumps(answer.to_dict()) if options.json else worded(answer, model), flush=True)
    return STATUSES[answer.status]


def _fixed(settings: Settings) -> frozenset[str]:
    """What was given stays; ``ipus`` only where somebody names them, for a system may be used in part."""
    return settings.given


def _interrupts() -> Callable[[], bool]:
    """Whether Ctrl-C was pressed; pressed again it stops at once."""
    pressed: list[int] = []

    def note(number: int, frame: Any) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, note)
    return lambda: bool(pressed)


def worded(answer: Answer, model: str) -> str:
    """YAML of the plan, everything else as comments."""
    told = answer.to_dict()
    lines = [f"# {line}" for line in _headline(answer)]
    if answer.best is not None:
        lines.append(yaml.safe_dump({"model": model, **told["plan"]}, sort_keys=False).rstrip())
        lines += ["#", "# Best of each trade-off between time, price, energy and free memory (all simulated):"]
        lines += [f"#   {_row(row)}" for row in told["front"][:SHOWN]]
    lost = [row for row in told["candidates"] if row["verdict"] != "chosen"]
    if lost:
        lines += ["#", f"# Others, {min(len(lost), SHOWN)} of {len(lost)} (--json tells all):"]
        lines += [f"#   {_settings(row)}: {row['reason']}" for row in lost[:SHOWN]]
    lines += [f"# Note ({code}): {message}" for code, message in answer.notes]
    return "\n".join(lines)


def _headline(answer: Answer) -> list[str]:
    simulated = sum(1 for trial in answer.trials if trial.outcome is not None)
    searched = f"{simulated} configurations simulated in {answer.cpu_seconds:.0f} s"
    ended = f"; {ENDS[answer.ended]}" if answer.ended else "; all that is legal was tried or ruled out"
    if answer.best is None or answer.best.outcome is None:
        said = {"infeasible": "Nothing that is legal fits.", "not_found": "Nothing that fits was met before the end."}
        found = [said.get(answer.status, ""), searched + ended + "."]
        if answer.nearest is not None:
            found.append(f"Nearest: {answer.verdict(answer.nearest)[1]}.")
        return found
    now = answer.best.outcome
    return [
        f"{answer.goal.replace('_', ' ').capitalize()}: {1 / now.seconds:,.0f} samples a second, a step of "
        f"{worded_seconds(now.step_seconds)} with {now.global_batch:,} samples (simulated)",
        f"Free on the fullest tile: {worded_bytes(now.headroom)}{_costs(now)}",
        f"{searched}{ended}; the plan was simulated anew and fits.",
    ]


def _costs(outcome: Outcome) -> str:
    price = "" if outcome.price is None else f"{outcome.price * 1e6:,.3g} USD and "
    return f"; a million samples take {price}{outcome.joules / 3.6:,.3g} kWh"


def _row(row: dict[str, Any]) -> str:
    found = row["outcome"]
    price = found["dollars_per_million_samples"]
    dear = "" if price is None else f", {price:,.3g} USD a million"
    return (
        f"{_settings(row)}: {found['samples_per_second']:,.0f} samples/s{dear}, {found['joules_per_sample']:.3g} J a "
        f"sample, {worded_bytes(found['headroom_bytes'])} free"
    )


def _settings(row: dict[str, Any]) -> str:
    found = row["settings"]
    cuts = ",".join(found.get("splits", []))
    others = [f"{name}={value}" for name, value in found.items() if name not in ("splits", "checkpoints")]
    return " ".join([*others, f"cut at {cuts:.60}"] if cuts else others)
