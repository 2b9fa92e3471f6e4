"""A session says what a simulation from scratch says, for every setting, and repeats only what it must."""

from typing import Any

import pytest

from simulator import RunConfig, SimulatorError, simulate
from simulator.whatif import session as module
from simulator.whatif.session import Session

BASE = RunConfig(system="pod16", batch=8, precision="fp16", optimiser="momentum")
PIPELINE = RunConfig(system="pod16", batch=8, stages=2, accumulation=4)


@pytest.fixture(scope="module")
def single() -> Session:
    return Session("zoo:mnist", BASE)


@pytest.fixture(scope="module")
def pipeline() -> Session:
    return Session("zoo:mnist", PIPELINE)


def without_cost(report: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report.items() if name != "simulation"}


CHANGES: list[dict[str, Any]] = [
    {},
    {"batch": 9},
    {"batch": 1},
    {"batch": 12},
    {"ipus": 4},
    {"ipus": 1},
    {"system": "pod64"},
    {"system": "bowpod16"},
    {"task": "infer"},
    {"precision": "fp32"},
    {"partials": "fp16"},
    {"optimiser": "adam"},
    {"available_memory_proportion": 0.05},
    {"accumulation": 3},
    {"stages": 4, "accumulation": 8},
    {"shard_optimiser": True},
    {"shard_optimiser": True, "ipus": 4},
    {"offload": "optimiser"},
    {"sdk": 2.0},
    {"framework": "popart"},
    {"device_iterations": 10},
    {"sequences_in_pack": 2.0},
    {"host_input": "bytes"},
    {"hosts": 2},
    {"prefetch_depth": 0},
    {"loader_workers": 2},
    {"state_precision": "fp16"},
    {"embedding_steps": 2},
    {"queue_depth": 4},
    {"loss_scale": 8.0},
    {"machine": {"chip.clock": 1.6e9}},
    {"machine": {"links.ipu_link": 8e9}},
    {"machine": {"tile.memory": 300_000}},
    {"machine": {"exchange.bytes_per_cycle": 8}},
    {"machine": {"sync.internal": 300}},
    {"machine": {"host.link": 1e9}},
    {"machine": {"fitted.matrix": 1.5, "fitted.exchange": 0.5}},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_session_says_what_a_fresh_simulation_says(single: Session, changes: dict[str, Any]) -> None:
    fresh = simulate("zoo:mnist", single.changed(changes))
    assert without_cost(single.report(changes)) == without_cost(fresh)


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"ipus": 4}, {"system": "pod64"}, {"machine": {"chip.clock": 1.6e9}}, {"machine": {"links.ipu_link": 1e9}},
        {"recompute": "stages"}, {"schedule": "interleaved"}, {"accumulation": 12}, {"batch": 5},
        {"splits": ["dense1"]},
        {"stage_proportions": [0.3, 0.5]}, {"recompute": "checkpoints", "checkpoints": ["conv1"]},
        {"shard_optimiser": True, "optimiser": "adam", "ipus": 8},
    ],
    ids=str,
)  # fmt: skip
def test_it_does_so_for_pipelines(pipeline: Session, changes: dict[str, Any]) -> None:
    fresh = simulate("zoo:mnist", pipeline.changed(changes))
    assert without_cost(pipeline.report(changes)) == without_cost(fresh)


@pytest.mark.parametrize(
    "changes", [{}, {"batch": 9}, {"ipus": 4}, {"task": "infer"}, {"machine": {"chip.clock": 1e9}}]
)
def test_an_outcome_has_the_figures_of_the_report(single: Session, changes: dict[str, Any]) -> None:
    report, outcome = single.report(changes), single.outcome(changes)
    assert outcome.step_seconds == report["step_seconds"]
    assert outcome.samples_per_second == pytest.approx(report["samples_per_second"])
    assert (outcome.fits, outcome.fullest) == (report["fits"], report["memory"]["worst_tile"]["bytes"])
    assert outcome.totals == report["memory"]["totals"]
    for part, seconds in outcome.parts.items():
        assert seconds == pytest.approx(report["time"][f"{part}_seconds"])
    spent = sum(sum(group.seconds.values()) for group in outcome.spending.values())
    assert spent == pytest.approx(report["step_seconds"])
    for name, bounds in outcome.to_dict()["intervals"].items():
        assert bounds == pytest.approx(report["intervals"][name])
    if not changes:
        assert outcome.latency_seconds is None


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Any) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        return self.function(*arguments, **named)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counted]:
    found = {name: Counted(getattr(module, name)) for name in ("graph_of", "lay", "memory_map")}
    for name, function in found.items():
        monkeypatch.setattr(module, name, function)
    return found


def calls(counted: dict[str, Counted]) -> dict[str, int]:
    return {name: function.calls for name, function in counted.items()}


def test_constants_and_slices_repeat_neither_trace_nor_plans_nor_memory(counted: dict[str, Counted]) -> None:
    session = Session("zoo:mnist", BASE)
    session.outcome()
    for changes in (
        {"machine": {"fitted.matrix": 2.0}}, {"machine": {"chip.clock": 2e9}}, {"machine": {"links.ipu_link": 1e9}},
        {"system": "pod64"}, {"ipus": 4}, {"sdk": 2.0},
    ):  # fmt: skip
        session.what_if(changes)
    assert calls(counted) == {"graph_of": 1, "lay": 1, "memory_map": 1}


def test_a_third_batch_is_not_traced(counted: dict[str, Counted]) -> None:
    session = Session("zoo:mnist", BASE)
    for batch in (8, 9, 10, 11):
        session.outcome({"batch": batch})
    assert counted["graph_of"].calls == 2


def test_what_does_not_fit_is_told(single: Session) -> None:
    found = single.outcome({"batch": 16_384})
    assert not found.fits
    assert found.over_by > 0


def test_bad_changes_are_refused(single: Session) -> None:
    for changes in ({"batch": 0}, {"nothing": 1}, {"machine": {"chip.clocks": 1.0}}, {"ipus": 3}):
        with pytest.raises(SimulatorError):
            single.outcome(changes)


def test_constants_and_dimensions_are_added_and_taken_out() -> None:
    session = Session("zoo:mnist", RunConfig(machine={"chip.clock": 1e9}))
    assert session.changed({"machine": {"links.ipu_link": 1.0}}).machine == {"chip.clock": 1e9, "links.ipu_link": 1.0}
    assert session.changed({"machine": {"chip.clock": None}}).machine == {}


def test_only_so_many_products_are_kept() -> None:
    kept: module._Kept[int] = module._Kept(2)
    for number in (1, 2, 1, 3):
        assert kept.get(number, lambda n=number: n) == number
    assert list(kept._held) == [1, 3]
