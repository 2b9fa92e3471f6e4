"""``python -m simulator serve MODEL --scenario server --qps 5000 --latency-bound 0.01``: a model under load."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from simulator.command.options import Parser, add_settings, model_of, settings_of
from simulator.command.outcome import guarded, progress
from simulator.errors import EXIT_DOES_NOT_FIT, SimulatorError
from simulator.report.text import memory_lines, note_lines, plain, settings_lines
from simulator.serving.capacity import highest_rate
from simulator.serving.scenarios import SCENARIOS, Load, Outcome, run
from simulator.serving.service import service_of
from simulator.units import worded_seconds

EXIT_BOUND_MISSED = 1
DEFAULTS = Load("offline")
# options of the load that one scenario alone listens to
OF_SCENARIO = {
    "qps": "server", "patience": "server", "arrival_seed": "server", "samples_per_query": "multi-stream",
}  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Exit status 0; 1 when a bound is missed; 3 when the model does not fit."""
    words = list(arguments)
    return guarded(lambda: _main(words), as_json="--json" in words)


def parser() -> argparse.ArgumentParser:
    """Options of the load, and those of every other simulation."""
    found = Parser(
        prog="python -m simulator serve",
        description="Put a simulated inference under load, in virtual time. All results are simulated.",
        epilog="exit status: 0 done, 1 the latency bound is missed, 2 bad model or settings, 3 it does not fit",
    )
    found.add_argument("model", metavar="MODEL", nargs="?", help="an .onnx file, or zoo:NAME such as zoo:mnist")
    load = found.add_argument_group("load")
    load.add_argument("--scenario", choices=SCENARIOS, default="offline", help="(%(default)s)")
    load.add_argument("--qps", type=float, help="requests a second; without it the most under the bound")
    load.add_argument("--latency-bound", type=float, metavar="SECONDS", help="of the percentile")
    load.add_argument("--percentile", type=float, help=f"({DEFAULTS.percent})")
    load.add_argument("--patience", type=float, metavar="SECONDS", help="a batch waits for more requests (0)")
    load.add_argument("--queries", type=int, default=DEFAULTS.queries, help="(%(default)s)")
    load.add_argument("--samples-per-query", type=int, help=f"({DEFAULTS.samples_per_query})")
    load.add_argument("--arrival-seed", type=int, help="of the arrivals (0)")
    found.add_argument("--json", action="store_true", help="print the report with its section 'serving' as JSON")
    found.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_settings(found)
    return found


def _main(words: list[str]) -> int:
    options = parser().parse_args(words)
    load = _load(options)
    settings = settings_of(options, as_published=True, task="infer")
    model = model_of(options)
    from simulator.pipeline import simulate  # after the options: JAX takes half a second to import

    tell = None if options.quiet else progress()
    report = simulate(model, settings.config, origins=settings.origins, on_progress=tell)
    outcome = outcome_of(load, report, search=load.scenario == "server" and options.qps is None)
    report["notes"] += [*settings.notes, *_notes(options)]
    report["serving"] = outcome.to_dict()
    print(json.dumps(report) if options.json else worded(outcome, report), flush=True)
    if not report.fits:
        return EXIT_DOES_NOT_FIT
    return EXIT_BOUND_MISSED if outcome.met is False else 0


def _load(options: argparse.Namespace) -> Load:
    given = {name: value for name in ("qps", "latency_bound") if (value := getattr(options, name)) is not None}
    for name, value in given.items():
        if not value > 0:
            text = f"--{name.replace('_', '-')} cannot be {value:g}. Use a number above 0, or leave it out for none."
            raise SimulatorError("serving.invalid", text, params={"field": name, "legal": "a number above 0"})
    if options.scenario == "server" and not given:
        text = "A server needs --qps N, or --latency-bound SECONDS to find the most that it takes."
        raise SimulatorError("serving.invalid", text, params={"field": "qps"})
    others = {
        "qps": given.get("qps", 1.0),  # without it the search sets it
        "bound": given.get("latency_bound"),
        "percent": options.percentile,
        "patience": options.patience,
        "samples_per_query": options.samples_per_query,
        "seed": options.arrival_seed,
    }
    return Load(options.scenario, options.queries, **{name: v for name, v in others.items() if v is not None})


def _notes(options: argparse.Namespace) -> list[dict[str, str]]:
    """What was asked of the load that its scenario does not listen to."""
    idle = [
        f"{name} (of the scenario {scenario})"
        for name, scenario in OF_SCENARIO.items()
        if getattr(options, name) is not None and options.scenario != scenario
    ]
    if options.percentile is not None and options.latency_bound is None:
        idle.append("percentile (no latency_bound is put on it)")
    said = f"Given, but without effect on this load: {'; '.join(idle)}."
    return [{"code": "serving.without_effect", "message": said}] if idle else []


def outcome_of(load: Load, report: dict[str, Any], *, search: bool = False) -> Outcome:
    """What ``load`` meets on the service that ``report`` describes; with ``search`` at the highest rate that holds."""
    service = service_of(report)
    return highest_rate(load, service) if search else run(load, service)


def worded(outcome: Outcome, report: dict[str, Any]) -> str:
    """The outcome for a terminal, on the service that ``report`` describes."""
    found, service, name = outcome.figures, outcome.service, plain(report["model"]["name"])
    asked = f" at {outcome.load.qps:,.0f} requests a second" if outcome.load.scenario == "server" else ""
    lines = [
        f"{name}, {outcome.load.scenario}{asked} (simulated): {found.throughput:,.1f} samples a second "
        f"of {service.peak:,.1f} at most",
        f"service: {report['parallel']['system']}, {_many(service.replicas, 'replica')} of "
        f"{_many(report['parallel']['ipus'] // service.replicas, 'IPU')}, batches of up to "
        f"{_many(service.batch, 'sample')}, up to {service.depth} in flight in each",
        "latency " + ", ".join(f"{key} {worded_seconds(value)}" for key, value in found.latency.items()),
        f"queue {found.queue_mean:.1f} requests on average, {found.queue_most} at most; batches in flight "
        f"{found.in_flight_mean:.2f} on average, {found.in_flight_most} at most; batches {found.fill:.0%} full",
    ]
    if outcome.met is not None:
        kept = "holds" if outcome.met else "does not hold"
        bound, met = worded_seconds(outcome.load.bound), worded_seconds(outcome.bounded)
        lines.append(f"The bound of {bound} on p{outcome.load.percent:g} {kept}: {met}.")
    if not report["fits"]:
        lines[0] += ", if it fitted"
        lines += memory_lines(report)
    return "\n".join([*lines, *settings_lines(report), *note_lines(report)])


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}{'s' * (count != 1)}"
