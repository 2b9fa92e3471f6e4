"""Every switch changes something: each setting of a run and each constant of the machine in at least one small run."""

from dataclasses import fields
from typing import Any

import pytest

from simulator import RunConfig, SimulatorError
from simulator.machines.catalogue import system
from simulator.machines.ipu import DERIVED, FIXED_SECTIONS
from simulator.whatif.session import Session

# what restates the settings, explains a figure or looks at other runs
APART = ("config", "config_origins", "notes", "simulation", "provenance", "differences", "scaling")
OTHER: dict[str, Any] = {
    "batch": 8, "optimiser": "adam", "precision": "fp16", "partials": "fp16", "dims": {"batch": 8},
    "available_memory_proportion": 0.05, "system": "bowpod16", "ipus": 2, "replicas": 2, "accumulation": 4, "stages": 2,
    "splits": ("conv2",), "stage_ipus": (0, 0), "stage_proportions": (0.05,), "schedule": "sequential",
    "recompute": "stages", "checkpoints": ("conv2",), "tensor_parallel": 2, "shard_optimiser": True,
    "offload": "optimiser", "state_precision": "fp16", "embedding_steps": 4, "loss_scale": 8.0, "device_iterations": 5,
    "prefetch_depth": 0, "queue_depth": 7, "framework": "popart", "sdk": 1.4, "sequences_in_pack": 2.0,
    "host_input": "bytes", "hosts": 2, "loader_workers": 1, "samples": 1000, "epochs": 3.0, "evaluation_samples": 500,
    "evaluations": 9, "machine": {"chip.clock": 1e9},
}  # fmt: skip
# of the numbers alone; the task is another run, not a switch
OF_NUMBERS = frozenset({"task", "steps", "learning_rate", "momentum", "seed", "dataset"})
RUNS: dict[str, tuple[str, RunConfig]] = {
    "pod16": ("zoo:mnist", RunConfig(system="pod16", optimiser="adam", precision="fp16", offload="optimiser",
              shard_optimiser=True, accumulation=2, host_input="bytes", loader_workers=200,
              framework="popart", sdk=2.0)),
    "stages": ("zoo:mnist", RunConfig(system="pod4", stages=2, accumulation=8, framework="pytorch", prefetch_depth=0,
               recompute="checkpoints", checkpoints=("conv1",), loader_workers=1, samples=100, evaluation_samples=20)),
    "eight": ("zoo:mnist", RunConfig(system="pod16", ipus=8, shard_optimiser=True, optimiser="adam")),
    "four": ("zoo:mnist", RunConfig(system="pod4", shard_optimiser=True, optimiser="adam")),
    # the fit finds no slope, so the age of an SDK moves only a run that has one
    "aged": ("zoo:mnist", RunConfig(system="pod4", machine={"fitted.sdk_slope": 0.1})),
    "two domains": ("zoo:mnist", RunConfig(system="pod128")),
    "quarter": ("zoo:mnist", RunConfig(task="infer", system="c600", precision="fp8", queue_depth=2)),
    "half": ("zoo:mnist", RunConfig(task="infer", system="c600", precision="fp16", partials="fp16")),
    "mixed": ("zoo:mnist", RunConfig(task="infer", system="c600", precision="fp16", partials="fp32")),
    "product": ("zoo:matmul", RunConfig(task="infer", system="pod4", ipus=1, batch=1, precision="fp16",
                dims={"m": 4096, "n": 4096, "k": 4096, "repeats": 1}, host_input="device")),
    "embedding": ("zoo:gpt2-small", RunConfig(batch=1, dims={"sequence": 16, "vocab": 1000})),
}  # fmt: skip
SESSIONS: dict[str, Session] = {}


def session(run: str) -> Session:
    if run not in SESSIONS:
        SESSIONS[run] = Session(*RUNS[run])
    return SESSIONS[run]


def figures(run: str, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    return {name: part for name, part in session(run).report(changes or {}).items() if name not in APART}


def changes_something(changes: dict[str, Any], runs: list[str]) -> bool:
    for run in runs:
        try:
            if figures(run, changes) != figures(run):
                return True
        except SimulatorError:
            continue  # not for this run
    return False


def test_every_setting_is_tried() -> None:
    assert {field.name for field in fields(RunConfig)} - OF_NUMBERS == set(OTHER)


@pytest.mark.parametrize("name", OTHER)
def test_every_setting_changes_some_run(name: str) -> None:
    changed = {name: OTHER[name]}
    assert changes_something(changed, ["stages", "four", "pod16", "half", "embedding", "product", "aged"])


NAMES = [
    name
    for name in system("pod16").ipu.known
    if name.split(".")[0] not in FIXED_SECTIONS and name not in (DERIVED, "host.numa_nodes")
]


@pytest.mark.parametrize("name", NAMES)
def test_every_constant_of_the_machine_changes_some_run(name: str) -> None:
    tried = ["pod16", "stages", "four", "eight", "two domains", "half", "mixed", "quarter"]
    for run in tried:
        value = system(RUNS[run][1].system).ipu.known[name].value
        for other in (2 * value, value // 2 if value == int(value) else value / 2, float(value // 900), 1.0):
            if other > 0 and other != value and changes_something({"machine": {name: float(other)}}, [run]):
                return
    pytest.fail(f"{name} changes nothing in {', '.join(tried)}")
