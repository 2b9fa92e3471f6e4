"""The search over a machine that is a formula, so that the best plan can be found by trying everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, pairwise

import pytest

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.search.answer import Answer, settings
from simulator.search.candidates import LADDER, Request, configuration, families, ladder
from simulator.search.estimate import Estimate, Work
from simulator.search.finder import find
from simulator.search.outcome import Outcome, Overfull, dominates
from simulator.search.trials import Budget, Trials

MEMORY = 1000
WORKS = (Work(2, 2.0, 4.0, 1.0, 400, 800), Work(16, 9.0, 18.0, 1.0, 400, 800))
NODES = tuple(f"layer{i}" for i in range(32))


def _machine(config: RunConfig) -> Outcome:
    """Weights of 400, state of 800, 20 a sample kept for backward (4 recomputed); a pipeline has a bubble."""
    stages, replicas = config.pipeline_stages, (config.ipus or 1) // config.pipeline_stages
    state = 0 if config.offload == "optimiser" else 800 / (replicas if config.shard_optimiser else 1)
    kept = config.batch * (4 if config.recompute == "stages" else 20) * (stages if stages > 1 else 1)
    used = round((400 + state) / stages + kept / stages + (100 / stages if config.accumulation > 1 else 0))
    micro = (1 + config.batch / 2) * (4 if config.recompute == "stages" else 3) / stages
    update = 1.0 + (3.0 if config.offload == "optimiser" else 0) + (0.5 if config.shard_optimiser else 0)
    step = micro * (config.accumulation + stages - 1) + update
    samples = config.batch * config.accumulation * replicas
    over = Overfull(0, 7, used - MEMORY, "memory") if used > MEMORY else None
    seconds = step / samples
    return Outcome(
        seconds, seconds * (config.ipus or 1) ** 1.1, seconds * (config.ipus or 1) ** 0.9, step, samples,
        MEMORY - used, over, (micro,) * stages, (MEMORY - used,) * stages, NODES[1:stages],
    )  # fmt: skip


def _request(**changes: object) -> Request:
    base = RunConfig(system="pod16", optimiser="adam")
    fixed = frozenset({"available_memory_proportion", "schedule", "splits"})
    made = Request(base=base, sizes=(16,), nodes=len(NODES), keeps_state=True, fixed=fixed)
    return replace(made, **changes)  # type: ignore[arg-type]


def _run(
    request: Request, *, candidates: int = 10_000, machine: object = _machine, **budget: object
) -> tuple[Trials, str]:
    limits = Budget(seconds=1e9, candidates=candidates, **budget)  # type: ignore[arg-type]
    trials = Trials(machine, request.goal, limits, lambda fraction: None)  # type: ignore[arg-type]
    estimate = Estimate(
        request, WORKS, MEMORY, lambda ipus: float(ipus) ** {"fastest": 0, "cheapest": 1.1}.get(request.goal, 0.9)
    )
    return trials, find(request, estimate, trials, NODES)


def _everything(request: Request) -> Iterator[Outcome]:
    for family in families(request):
        for batch, times in ladder(request, family):
            found = _machine(configuration(request, family, batch, times))
            if found.fits:
                yield found


@pytest.mark.parametrize("goal", ["fastest", "cheapest", "least_energy"])
@pytest.mark.parametrize("global_batch", [None, 64, 256, 1024])
def test_it_finds_what_trying_everything_finds(goal: str, global_batch: int | None) -> None:
    request = _request(goal=goal, global_batch=global_batch, sizes=(1, 2, 4, 8, 16))
    trials, ended = _run(request)
    assert ended == ""
    assert trials.best is not None
    assert trials.best.outcome is not None
    least = min(outcome.cost(goal) for outcome in _everything(request))  # type: ignore[arg-type]
    assert trials.best.outcome.cost(goal) == pytest.approx(least)  # type: ignore[arg-type]


def test_a_family_that_is_full_of_weights_is_given_up_after_its_smallest_micro_batch() -> None:
    def full(config: RunConfig) -> Outcome:
        return replace(_machine(config), overfull=Overfull(0, 7, config.batch, "memory"))

    fixed = _request().fixed | {"stages", "recompute", "offload", "shard_optimiser", "accumulation"}
    base = RunConfig(optimiser="adam", accumulation=8, stages=2)
    trials, _ = _run(_request(base=base, fixed=fixed), machine=full)
    assert [t.config.batch for t in trials if t.outcome][:1] == [1]
    assert sum(1 for t in trials if t.outcome) < 5


def test_it_tries_far_less_than_everything() -> None:
    request = _request(sizes=(1, 2, 4, 8, 16))
    trials, _ = _run(request)
    everything = sum(len(ladder(request, family)) for family in families(request))
    assert trials.budget.spent < everything / 4


def test_the_same_request_tries_the_same_in_the_same_order() -> None:
    first, second = (_run(_request())[0] for _ in range(2))
    assert [t.config for t in first] == [t.config for t in second]


def test_a_shorter_search_is_the_beginning_of_a_longer_one() -> None:
    longer = [t.config for t in _run(_request())[0] if t.outcome]
    trials, ended = _run(_request(), candidates=9)
    assert ended == "candidates"
    assert [t.config for t in trials if t.outcome] == longer[:9]


def test_time_and_cancellation_end_it() -> None:
    ticks = count()
    trials = Trials(_machine, "fastest", Budget(5.0, 1000, clock=lambda: float(next(ticks))), lambda fraction: None)
    assert find(_request(), Estimate(_request(), WORKS, MEMORY, lambda ipus: 1.0), trials) == "time"
    assert trials.budget.spent < 10
    assert _run(_request(), cancelled=lambda: True)[1] == "cancelled"


def test_nothing_that_does_not_fit_is_best_and_nothing_fitting_is_said() -> None:
    def never(config: RunConfig) -> Outcome:
        return replace(_machine(config), overfull=Overfull(0, 417, 100 + config.batch, "memory"))

    trials, ended = _run(_request(), machine=never)
    assert (trials.best, ended) == (None, "")
    assert trials.nearest is not None
    assert trials.nearest.config.batch == 1


def test_a_refused_configuration_does_not_stop_the_search() -> None:
    def moody(config: RunConfig) -> Outcome:
        if config.offload == "optimiser":
            raise SimulatorError("parallel.illegal", "Not so.")
        return _machine(config)

    trials, _ = _run(_request(), machine=moody)
    assert {t.refused.code for t in trials if t.refused} == {"parallel.illegal"}
    assert trials.best is not None
    assert trials.best.config.offload == "none"


def test_what_is_given_stays() -> None:
    fixed = _request().fixed | {"stages", "batch", "recompute"}
    trials, _ = _run(_request(base=RunConfig(stages=4, batch=3, optimiser="adam"), fixed=fixed))
    assert {(t.config.stages, t.config.batch, t.config.recompute) for t in trials} == {(4, 3, "none")}


def test_every_candidate_keeps_the_global_batch_and_fills_its_pipeline() -> None:
    request = _request(global_batch=240)
    trials, _ = _run(request)
    for config in (t.config for t in trials):
        replicas = (config.ipus or 1) // config.stages
        assert config.batch * config.accumulation * replicas == 240
        assert config.accumulation >= config.stages


def test_a_global_batch_that_no_replica_count_divides_has_no_candidates() -> None:
    assert list(families(_request(global_batch=7))) == []


def test_an_open_global_batch_has_a_limit() -> None:
    request = _request(largest_global_batch=512)
    for family in families(request):
        for batch, times in ladder(request, family):
            assert batch * times * family.replicas(request.base) <= 512


def test_inference_has_no_accumulation_and_no_recomputation() -> None:
    request = _request(base=RunConfig(task="infer"), keeps_state=False)
    found = list(families(request))
    assert {(f.recompute, f.offload, f.accumulates) for f in found} == {("none", "none", False)}
    assert [batch for batch, _ in ladder(request, found[0])] == list(LADDER)


def test_recomputation_keeps_the_outputs_of_layers() -> None:
    request = _request(layers=("layer0.", "layer1."))
    found = {(f.stages > 1, f.recompute) for f in families(request)}
    assert found == {(False, "none"), (False, "checkpoints"), (True, "none"), (True, "checkpoints"), (True, "stages")}
    made = [configuration(request, f, 2, 16) for f in families(request) if f.stages > 1]
    assert {(c.recompute, c.checkpoints) for c in made} == {
        ("none", ()), ("stages", ()), ("checkpoints", ("layer0.", "layer1.")),
    }  # fmt: skip


def test_the_front_holds_what_nothing_beats_in_everything() -> None:
    trials, _ = _run(_request(sizes=(4, 16)))
    front = [t.outcome for t in trials.front() if t.outcome]
    fitting = [t.outcome for t in trials if t.outcome and t.outcome.fits]
    assert trials.best is not None
    assert front[0] == trials.best.outcome
    assert not any(dominates(a, b) for a in front for b in front)
    assert all(any(dominates(a, b) or a == b for a in front) for b in fitting)


def test_every_candidate_is_told_why_it_lost() -> None:
    request = _request(sizes=(1, 4, 16))
    trials, ended = _run(request)
    answer = Answer(
        "found", "fastest", request.base, trials.best, None, tuple(trials.front()), tuple(trials), ended, True, 1.0
    )  # type: ignore[arg-type]
    told = answer.to_dict()
    verdicts = {row["verdict"] for row in told["candidates"]}
    assert verdicts == {"chosen", "lost", "does_not_fit", "left_out"}
    assert sum(row["verdict"] == "chosen" for row in told["candidates"]) == 1
    assert any("of memory on tile 7" in row["reason"] for row in told["candidates"])
    assert RunConfig.from_dict(told["plan"]) == trials.best.config  # type: ignore[union-attr]


def test_a_plan_is_only_what_is_not_default() -> None:
    assert settings(RunConfig(batch=16, stages=2)) == {"system": "pod4", "task": "train", "batch": 16, "stages": 2}


def test_the_cut_moves_away_from_the_stage_that_does_not_fit() -> None:
    """Free cuts: layers 0 to 7 hold ten times what the others do; only an uneven pipeline fits."""

    def uneven(config: RunConfig) -> Outcome:
        splits = config.splits or tuple(NODES[32 * k // config.stages] for k in range(1, config.stages))
        begins = [0, *(NODES.index(name) for name in splits), 32]
        held = [sum(10 if n < 8 else 1 for n in range(a, b)) for a, b in pairwise(begins)]
        worst = max(range(len(held)), key=held.__getitem__)
        over = Overfull(worst, 3, held[worst] - 60, "memory") if held[worst] > 60 else None
        return replace(_machine(config), overfull=over, splits=splits, stage_seconds=(1.0,) * config.stages)

    fixed = _request().fixed - {"splits"} | {
        "stages",
        "batch",
        "recompute",
        "offload",
        "shard_optimiser",
        "accumulation",
    }
    base = RunConfig(stages=2, batch=2, accumulation=8, optimiser="adam", ipus=16)
    trials, _ = _run(_request(base=base, fixed=fixed), machine=uneven)
    assert trials.best is not None
    assert trials.best.config.splits == ("layer6",)
