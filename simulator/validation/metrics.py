"""From simulated runs to the quantity that a row reports, in the row's unit. Each metric is one small function."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, prod
from typing import Any

from simulator.datafiles import read_data
from simulator.machines.constants import Constants
from simulator.validation.cases import Case, with_task
from simulator.validation.phases import phase_cycles, phase_of
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Outcome, Runs

# what a run does beside its training, on schedules and programs that are partly assumed (``metrics.yaml``)
PHASES = frozenset({"eval_pause_s", "offline_eval_phase_s"})
EPOCH_METRICS = ("epoch_time_s", "epoch_time_s_mean", "epoch_time_s_median")
TERA = 1e12


@lru_cache(maxsize=1)
def _facts() -> dict[str, Any]:
    parsed: dict[str, Any] = read_data("simulator.validation", "metrics.yaml")
    return parsed


def _fact(name: str) -> float:
    return float(_facts()[name]["value"])


def predicted(case: Case, runs: Runs, constants: Constants) -> float:
    """The value of the row's metric. Raises NotModelled where it is none that a simulation tells."""
    metric = case.subject.metric
    if metric in METRICS:
        return METRICS[metric](case, runs, constants)
    if metric in EPOCH_METRICS:
        return _epoch(case, runs, constants)
    if metric == "latency_ms_max":
        raise NotModelled("the largest of an unknown number of latencies, the first call's among them")
    raise NotModelled(f"'{metric}' is not something a simulated step tells (compile and start-up times are not)")


def _outcome(case: Case, runs: Runs, constants: Constants) -> Outcome:
    if case.place.gpu:
        return runs.on_gpus(case.model, case.config, case.place.chip, case.place.chips, case.rows_a_gpu, constants)
    return runs.outcome(case.model, case.config, constants)


def _throughput(case: Case, runs: Runs, constants: Constants) -> float:
    if case.subject.unit.upper().startswith("TFLOPS"):
        return _work(case, "flops") / _seconds(case, runs, constants) / TERA
    return _through_epochs(case, _outcome(case, runs, constants))


def _through_epochs(case: Case, found: Outcome) -> float:
    """Samples a second over whole epochs: a loader begins each anew, with one worker making all of the first call."""
    record, samples = case.workload.record_seconds, case.workload.samples
    if not (record and samples):
        return found.samples_per_second
    first = record * found.samples * case.config.device_iterations
    return samples / (samples / found.samples_per_second + first)


def _bandwidth(case: Case, runs: Runs, constants: Constants) -> float:
    if not case.subject.unit.upper().startswith("TB/S"):
        raise NotModelled(f"bandwidth in '{case.subject.unit}' is not known here")
    return _work(case, "bytes") / _seconds(case, runs, constants) / TERA


def _work(case: Case, what: str) -> float:
    """Operations or bytes of the whole run, as the source counts them."""
    kernel = _facts()["kernels"].get(case.model.removeprefix("zoo:"))
    if kernel is None:
        raise NotModelled(f"the {what} of {case.model} are not counted by its source")
    return float(kernel[what]) * prod(case.sizes.values())


def _seconds(case: Case, runs: Runs, constants: Constants) -> float:
    """Of a kernel's sweeps on the device: sources time the loop, not how its result comes back."""
    found = _outcome(case, runs, constants)
    return found.device_seconds if case.subject.task in ("hpc", "micro") else found.step_seconds


def _microseconds(case: Case, runs: Runs, constants: Constants) -> float:
    """Of one call."""
    return 1e6 * _outcome(case, runs, constants).step_seconds / case.calls


def _cycles(case: Case, runs: Runs, constants: Constants) -> float:
    """Cycles of one call on the device, or of the phase of it that the row names."""
    phase = phase_of(case.subject.model)
    if phase:
        return phase_cycles(phase, case, runs, constants)
    return _outcome(case, runs, constants).device_cycles / case.calls


def _epoch(case: Case, runs: Runs, constants: Constants) -> float:
    return _samples(case) / _through_epochs(case, _outcome(case, runs, constants))


def _samples(case: Case) -> int:
    if not case.workload.samples:
        raise NotModelled("the number of samples of its data set is not known here")
    return case.workload.samples


def _with_checkpoints(case: Case, runs: Runs, constants: Constants) -> float:
    found = _outcome(case, runs, constants)
    epoch = _samples(case) / found.samples_per_second
    return _samples(case) / (epoch + _checkpoint(found) / _fact("checkpoint_every"))


def _checkpoint(found: Outcome) -> float:
    return 2 * 4 * found.parameters / _fact("checkpoint_rate")


def _with_evaluation(case: Case, runs: Runs, constants: Constants) -> float:
    """Samples between two evaluations over the time of both."""
    found = _outcome(case, runs, constants)
    every = evaluation_interval(found.samples)
    return every / (every / found.samples_per_second + _evaluation(case, runs, constants))


def evaluation_interval(batch: float) -> int:
    """Samples between two evaluations of a run with so many in a global batch: MLPerf's rule for BERT."""
    rule = _facts()["evaluation_interval"]
    wanted = rule["share"] * (rule["samples_a_row"] * batch + rule["samples"])
    return int(wanted // rule["multiple"]) * int(rule["multiple"])


def _evaluation(case: Case, runs: Runs, constants: Constants) -> float:
    """Seconds of one evaluation within a training run: global batches, the last one padded; a whole step for each
    where the program does nothing else, with an optimiser that changes nothing."""
    if not case.workload.evaluation:
        raise NotModelled("the number of samples of an evaluation is not known here")
    whole = not case.place.gpu and case.config.sdk < _fact("forward_evaluation_from")
    found = _outcome(case if whole else with_task(case, "infer"), runs, constants)
    return ceil(case.workload.evaluation / found.samples) * found.step_seconds


def _offline_evaluation(case: Case, runs: Runs, constants: Constants) -> float:
    """All kept checkpoints of a run evaluated after it, once the evaluation program is on the IPUs."""
    if case.config.sdk < _fact("evaluation_in_process_from"):
        raise NotModelled("before SDK 2.2 another process evaluated, and the start of a process is not simulated")
    checkpoints = max(1.0, _epochs(case) / _fact("checkpoint_every")) if _amount(case) else _fact("checkpoints_of_run")
    found = _outcome(with_task(case, "infer"), runs, constants)
    return _fact("graph_swap") + checkpoints * case.workload.evaluation / found.samples_per_second


def _amount(case: Case) -> float:
    words = case.subject.samples_to_converge_or_epochs.split()
    try:
        return float(words[0]) if words else 0.0
    except ValueError:
        return 0.0


def _epochs(case: Case) -> float:
    if "epoch" not in case.subject.samples_to_converge_or_epochs:
        raise NotModelled("how many epochs it took is not told")
    return _amount(case)


def _time_to_train(case: Case, runs: Runs, constants: Constants) -> float:
    """Minutes, for the samples or epochs that the row says the run needed: convergence itself is not simulated.

    A run with a fixed number of epochs needs as many, where the row does not say.
    """
    if case.workload.epochs and not _amount(case):
        return case.workload.epochs * _epoch(case, runs, constants) / 60
    amount, words = _amount(case), case.subject.samples_to_converge_or_epochs
    if not amount:
        raise NotModelled("how many samples or epochs it took is not told, and convergence is not simulated")
    if "epoch" not in words:
        return amount / _with_evaluation(case, runs, constants) / 60
    training = amount * _samples(case) / _with_checkpoints(case, runs, constants)
    return (training + _offline_evaluation(case, runs, constants)) / 60


def _latency(case: Case, runs: Runs, constants: Constants) -> float:
    """Milliseconds of a request when each replica has ``queue_depth`` batches in flight, or one in each stage of its
    pipeline: depth x batch x replicas / throughput."""
    found, config = _outcome(case, runs, constants), case.config
    depth = max(config.queue_depth or 1, config.pipeline_stages)
    return 1e3 * depth * config.batch * (config.replicas or 1) / found.samples_per_second


def _latency_tail(case: Case, runs: Runs, constants: Constants) -> float:
    return _latency(case, runs, constants) * constants.latency_tail


METRICS: dict[str, Callable[[Case, Runs, Constants], float]] = {
    "throughput": _throughput,
    "throughput_incl_eval": _with_evaluation,
    "throughput_incl_checkpoints": _with_checkpoints,
    "time_to_train_min": _time_to_train,
    "eval_pause_s": _evaluation,
    "offline_eval_phase_s": _offline_evaluation,
    "latency_ms_avg": _latency,
    "latency_ms_p50": _latency,
    "latency_ms_p99": _latency_tail,
    "cycles": _cycles,
    "time_s": _seconds,
    "time_us": _microseconds,
    "bandwidth": _bandwidth,
}
