"""Run configurations that were published ran, so that they have to fit in memory by this account of it."""

from dataclasses import replace
from functools import cache

import pytest

from simulator import RunConfig
from simulator.memory.of_ipu import memory_of
from simulator.validation.configurations import read_configurations, run_of
from simulator.validation.layouts.entry import Configuration
from simulator.validation.runs import Runs

KNOWN = {each.name: each for each in read_configurations()}
# what is still over, and why; the share of a tile that it must not exceed
OVER = {
    "mlperf-v2.0-rnnt-pod64-open": (1.35, "another encoder stands for its own, and its joint network runs in parts"),
}
# PopRT's table of BERT-Base at 256 tokens (examples/bert/README.md) states the batches that ran and those that did not
BERT_SQUAD = "poprt-example-bertsquad"
LARGEST_THAT_RAN = {"fp32": 2, "fp16": 16, "fp8": 32}
PARTIALS = {"fp32": "fp32", "fp16": "fp16", "fp8": "fp16"}
OUT_OF_MEMORY = {"fp32": 8}  # from 4 on, where this account has 4 % of a tile left
QUICK = (
    "mlperf-v2.0-bert-pod16-closed",
    "examples-bert-tf2-pretrain_large_128_phase1",
    "examples-pytorch-infer-resnet50",
)


def fullest(configuration: Configuration) -> float:
    """Share of its memory that the fullest tile of any IPU of a replica needs."""
    return share(*run_of(configuration))


def share(model: str, config: RunConfig) -> float:
    """The same of a model and settings."""
    laid = Runs().laid(model, config)[1]
    found = 0
    for each in laid.planned:
        memory = memory_of(each.part, each.assignment, laid.parallel, config, laid.ipu)
        found = max(found, int(memory.tile_bytes.max()))
    return found / laid.ipu.bytes_per_tile


@cache
def distinct() -> tuple[str, ...]:
    """One name for each layout of a replica: how many replicas there are matters only where they share state."""
    seen: dict[str, str] = {}
    for name, each in KNOWN.items():
        settings = {k: v for k, v in each.settings.items() if k not in ("accumulation", "device_iterations", "hosts")}
        if not settings.get("shard_optimiser"):
            settings.pop("replicas", None)
        seen.setdefault(f"{each.model} {each.task} {each.chip} {each.dims} {sorted(settings.items())}", name)
    return tuple(name for name in seen.values())


@pytest.mark.parametrize("name", QUICK)
def test_published_runs_fit(name: str) -> None:
    assert 0.3 < fullest(KNOWN[name]) <= 1


def bert_squad(precision: str, batch: int) -> float:
    model, config = run_of(replace(KNOWN[BERT_SQUAD], chip="C600"))
    return share(model, replace(config, precision=precision, batch=batch, partials=PARTIALS[precision]))


@pytest.mark.parametrize("precision", LARGEST_THAT_RAN)
def test_the_largest_batch_that_ran_on_a_card_fits(precision: str) -> None:
    assert 0.4 < bert_squad(precision, LARGEST_THAT_RAN[precision]) <= 1


@pytest.mark.parametrize("precision", OUT_OF_MEMORY)
def test_a_batch_that_was_out_of_memory_is(precision: str) -> None:
    assert bert_squad(precision, OUT_OF_MEMORY[precision]) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in distinct() if name not in (*QUICK, BERT_SQUAD)])
def test_every_published_run_fits_but_those_that_are_known_not_to(name: str) -> None:
    most = OVER[name][0] if name in OVER else 1.0
    share = fullest(KNOWN[name])
    assert share <= most
    assert name not in OVER or share > 1, f"{name} fits now: it is no exception any more"
