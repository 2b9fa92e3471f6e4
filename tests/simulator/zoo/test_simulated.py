"""Every model at its full size: simulated in both tasks, and its run configuration can be asked for."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.config import RunConfig
from simulator.pipeline import simulate
from simulator.zoo.catalogue import ZOO, ZooModel, build, chosen

ONE_IPU = {"batch": 1, "precision": "fp16", "partials": "fp16", "system": "pod4", "ipus": 1}
# one of each kind of network that is traced within a second; the others train in the slow suite
QUICK = ("zoo:mnist", "zoo:bert-base", "zoo:vit-b16", "zoo:lstm", "zoo:unet", "zoo:wide-deep")
LARGE = [m for m in ZOO if m.parameters > 1_000_000]
FIRST = {m.builder: m for m in reversed(LARGE)}  # of each builder


@pytest.mark.parametrize("model", FIRST.values(), ids=lambda m: m.id)
def test_inference_is_simulated(model: ZooModel) -> None:
    _inferred(model)


@pytest.mark.slow
@pytest.mark.parametrize("model", [m for m in LARGE if m not in FIRST.values()], ids=lambda m: m.id)
def test_inference_of_the_others_is_simulated(model: ZooModel) -> None:
    _inferred(model)


def _inferred(model: ZooModel) -> None:
    report = simulate(model.id, RunConfig(task="infer", **ONE_IPU))
    assert report["step_seconds"] > 0
    assert report["coverage"]["fallbacks"] == []


@pytest.mark.parametrize("name", QUICK)
def test_training_is_simulated(name: str) -> None:
    _trained(name)


@pytest.mark.slow
@pytest.mark.parametrize("model", [m for m in LARGE if m.id not in QUICK and m.trainable], ids=lambda m: m.id)
def test_training_of_the_others_is_simulated(model: ZooModel) -> None:
    _trained(model.id)


def _trained(name: str) -> None:
    once = simulate(name, RunConfig(task="infer", **ONE_IPU))
    report = simulate(name, RunConfig(task="train", **ONE_IPU))
    assert _on_the_ipu(report) > 1.3 * _on_the_ipu(once)  # backward and update besides the forward pass
    assert report["coverage"]["fallbacks"] == []


def _on_the_ipu(report: dict[str, Any]) -> float:
    """Seconds of a step without the host, to which inference alone hands whole outputs."""
    return float(report["time"]["total_seconds"] - report["time"]["host_seconds"])


@pytest.mark.slow
@pytest.mark.parametrize("model", LARGE, ids=lambda m: m.id)
def test_the_run_of_its_source_is_simulated(model: ZooModel) -> None:
    report = simulate(model.id, RunConfig.from_dict(model.run.config))
    assert report["samples_per_second"] > 0


@pytest.mark.parametrize("model", ZOO, ids=lambda m: m.id)
def test_run_configurations_are_settings_that_name_parts_of_the_model(model: ZooModel) -> None:
    config = RunConfig.from_dict(model.run.config)
    options, _ = chosen(model, config.dims)
    nodes = [node.name for node in build(model, options).nodes]
    for split in (*config.splits, *config.checkpoints):
        assert any(name.startswith(split) for name in nodes), split
    assert not config.training or model.trainable
    assert config.accumulation >= config.pipeline_stages or not config.training
    assert model.run.source


def test_options_change_the_cost_as_they_should() -> None:
    def seconds(**dims: int) -> float:
        return float(simulate("zoo:bert-base", RunConfig(task="infer", dims=dims, **ONE_IPU))["step_seconds"])

    usual = seconds()
    assert seconds(sequence=256) > usual
    assert seconds(vocab=60_000) > usual
    assert seconds(mask_tokens=60) > usual
    assert seconds(pack=3) != usual
    assert seconds(qkv_products=1) != usual
    assert seconds(masked_first=1) > usual  # the head's dense layer works on all tokens
