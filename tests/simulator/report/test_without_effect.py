"""Settings that change nothing are named, and those that are named change nothing: every setting in many runs."""

from typing import Any

import pytest

from simulator import RunConfig, SimulatorError
from simulator.whatif.session import Session

OTHER: dict[str, Any] = {
    "optimiser": "adam", "precision": "fp16", "partials": "fp16", "system": "pod16", "ipus": 2, "replicas": 1,
    "accumulation": 8, "schedule": "interleaved", "recompute": "stages", "checkpoints": ("conv1",), "batch": 8,
    "tensor_parallel": 2, "shard_optimiser": True, "offload": "optimiser", "state_precision": "fp16", "stages": 2,
    "embedding_steps": 4, "loss_scale": 8.0, "device_iterations": 5, "prefetch_depth": 4, "queue_depth": 7,
    "sdk": 1.4, "sequences_in_pack": 2.0, "host_input": "bytes", "hosts": 2, "loader_workers": 4,
    "samples": 1000, "epochs": 3.0, "evaluation_samples": 500, "evaluations": 9, "framework": "popart",
}  # fmt: skip
# a limit that does not bind here is a limit all the same; the doubt of a framework nobody measured is an effect
RUNS: dict[str, tuple[str, RunConfig]] = {
    "training": ("zoo:mnist", RunConfig()),
    "training, 1 IPU": ("zoo:mnist", RunConfig(ipus=1)),
    "inference": ("zoo:mnist", RunConfig(task="infer")),
    "inference in stages": ("zoo:mnist", RunConfig(task="infer", stages=2, device_iterations=8)),
    "stages": ("zoo:mnist", RunConfig(stages=2, accumulation=8, samples=100, evaluation_samples=20)),
    "on the device": ("zoo:mnist", RunConfig(host_input="device")),
    "adam, fp16": ("zoo:mnist", RunConfig(optimiser="adam", precision="fp16")),
    "one IPU of checkpoints": ("zoo:mnist", RunConfig(recompute="checkpoints", checkpoints=("conv1",))),
    "no pictures": ("zoo:lstm", RunConfig(dims={"sequence": 4, "hidden": 64})),
    "a kernel": ("zoo:gather", RunConfig(task="infer", ipus=1, batch=1)),
    "an embedding": ("zoo:gpt2-small", RunConfig(precision="fp16", batch=1, dims={"sequence": 16, "vocab": 1000})),
}
ONLY = {"an embedding": ("embedding_steps", "shard_optimiser", "loader_workers")}  # a large model
# what restates the settings, or looks at other runs
APART = ("config", "config_origins", "notes", "simulation", "provenance", "differences", "scaling")
RESTATED = ("schedule", "loader_workers", "hosts")


def figures(report: dict[str, Any]) -> dict[str, Any]:
    """What a run is judged by; of the layout only what is counted from it."""
    left = {name: part for name, part in report.items() if name not in APART}
    left["parallel"] = {name: part for name, part in report["parallel"].items() if name not in RESTATED}
    return left


def named(report: dict[str, Any]) -> str:
    return next((note["message"] for note in report["notes"] if note["code"] == "config.without_effect"), "")


@pytest.mark.parametrize("run", RUNS)
def test_what_changes_nothing_is_named_and_nothing_else_is(run: str) -> None:
    model, base = RUNS[run]
    session = Session(model, base)
    before = figures(session.report())
    wrong = []
    for name, value in OTHER.items():
        if name not in ONLY.get(run, OTHER) or value in (getattr(base, name), before["parallel"].get(name)):
            continue  # as it is
        try:
            report = session.report({name: value})
        except SimulatorError:
            continue  # refused, so not ignored
        said, same = f"{name} (" in named(report), figures(report) == before
        if said != same:
            wrong.append(f"{name} {'changes nothing' if same else 'changes ' + changed(before, figures(report))}")
    assert wrong == []


def changed(before: dict[str, Any], after: dict[str, Any]) -> str:
    return ", ".join(name for name in after if after[name] != before[name])


def test_constants_of_links_are_idle_on_one_ipu() -> None:
    slower = {"machine": {"links.ipu_link": 1e9}}
    alone, joined = (Session("zoo:mnist", RunConfig(ipus=ipus)) for ipus in (1, 2))
    assert "links.ipu_link (one IPU has no other" in named(alone.report(slower))
    assert figures(alone.report(slower))["time"] == figures(alone.report())["time"]
    assert named(joined.report(slower)) == ""
    assert joined.report(slower)["step_seconds"] > joined.report()["step_seconds"]


def test_stage_proportions_leave_the_general_one_nothing_to_say() -> None:
    own = {"stage_proportions": (0.3,)}
    session = Session("zoo:mnist", RunConfig())
    said = named(session.report({**own, "available_memory_proportion": 0.05}))
    assert "available_memory_proportion (stage_proportions say it for every stage)" in said
    assert "available_memory_proportion" not in named(session.report({"available_memory_proportion": 0.05}))


def test_a_default_that_is_given_is_no_surprise() -> None:
    session = Session("zoo:mnist", RunConfig(task="infer"), origins={"optimiser": "given", "offload": "given"})
    assert named(session.report()) == ""


def test_what_a_published_run_decides_is_not_held_against_anybody() -> None:
    config = RunConfig(task="infer", optimiser="adam")
    assert named(Session("zoo:mnist", config, origins={"optimiser": "published"}).report()) == ""
    assert "optimiser" in named(Session("zoo:mnist", config, origins={"optimiser": "given"}).report())
