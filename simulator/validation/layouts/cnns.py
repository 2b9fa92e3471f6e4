"""Run configurations of convolutional networks, as the TensorFlow 1 and PyTorch applications for IPUs write them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from simulator.machines.facts import facts
from simulator.validation.layouts.entry import Configuration, identity, number, optimiser, proportions

IMAGES = 1_281_167  # ImageNet 2012, training images
TF_UNIT = re.compile(r"^(?:b(\d+)/(\d+)|stage(\d+)/unit(\d+))/relu$")
TIMM = re.compile(r"^blocks/(\d+)/(\d+)/(\w+)$")
TIMM_LAYERS = {
    "conv_pw": "expand", "bn1": "expand.norm", "conv_dw": "depthwise", "bn2": "depthwise.norm",
    "conv_pwl": "project", "bn3": "project.norm",
}  # fmt: skip
# graphcore/examples: vision/cnns/pytorch/inference/benchmarks.yml: tiles of each IPU set aside for input and output
INFERENCE_IO_TILES = {"resnet50": 64, "efficientnet-b0": 64}
RESNET50_BLOCKS = (3, 4, 6, 3)
B0_BLOCKS = (1, 2, 2, 3, 3, 4, 1)
DEPTHS = {"efficientnet-b0": 1.0, "efficientnet-b4": 1.8}
TORCH_LAYER = re.compile(r"^layer(\d+)/(\d+)/(conv|bn)(\d)$")
TORCH_SHORTCUT = re.compile(r"^layer(\d+)/(\d+)/downsample[_/](\d)$")


def tensorflow(name: str, entry: Mapping[str, Any]) -> Configuration:
    """``model``, ``model_size``, ``shards``: with one shard ``pipeline_splits`` only mark what is kept of recompute."""
    family, size = str(entry["model"]), entry.get("model_size")
    grouped = family == "efficientnet" and entry.get("group_dim") == 16
    model = {"resnet": f"resnet{size}", "resnext": f"resnext{size}", "efficientnet": f"efficientnet-b{size}"}[family]
    shards, replicas = int(entry.get("shards", 1)), int(entry.get("replicas", 1))
    micro = int(entry.get("micro_batch_size") or entry.get("batch_size") or 1)
    accumulation = int(entry.get("gradient_accumulation_count", 1))
    splits = tuple(_tf_split(str(each)) for each in entry.get("pipeline_splits", ()))
    chosen, stand_in = optimiser(str(entry.get("optimiser", "momentum")))
    steps = IMAGES // (micro * accumulation * replicas) // int(entry.get("logs_per_epoch", 1))
    settings: dict[str, Any] = {
        "batch": micro, "replicas": replicas, "accumulation": accumulation, "optimiser": chosen,
        "host_input": "bytes" if entry.get("eight_bit_io") else "model", "device_iterations": max(1, steps),
        **_precision(str(entry.get("precision", "16.16")), entry.get("enable_half_partials", False)),
        **proportions(entry.get("available_memory_proportion"), ()),
    }  # fmt: skip
    if shards > 1:
        settings |= {"splits": splits, "schedule": str(entry.get("pipeline_schedule", "Grouped")).lower()}
        settings |= {"recompute": "stages"} if entry.get("enable_recomputation") else {}
    elif entry.get("enable_recomputation"):
        settings |= {"recompute": "checkpoints", "checkpoints": splits}
    if "host_servers" in entry:
        settings |= _hosts(int(entry["host_servers"]), int(entry.get("poprun_instances", 0)))
    return Configuration(
        **identity(name, entry), model=model + ("-g16" if grouped else ""), task="train", framework="tensorflow",
        ipus=shards * replicas, settings=settings, assumed=("optimiser",) if stand_in else (),
    )  # fmt: skip


def _hosts(hosts: int, instances: int) -> dict[str, Any]:
    """Hosts, and the cores of each that decode: poprun binds an instance to one NUMA node, whose cores it uses."""
    if not instances:
        return {"hosts": hosts}
    cores, nodes = (int(facts()[name].value) for name in ("host.cores", "host.numa_nodes"))
    return {"hosts": hosts, "loader_workers": cores * min(nodes, -(-instances // hosts)) // nodes}


def pytorch(name: str, entry: Mapping[str, Any]) -> Configuration:
    """The PyTorch application: an empty ``pipeline_splits`` is one IPU a replica."""
    training = "-infer-" not in name
    splits = tuple(_torch_split(str(each)) for each in entry.get("pipeline_splits", ()))
    replicas = int(entry.get("replicas", 1))
    grouped = entry.get("efficientnet_group_dim") == 16
    chosen, stand_in = optimiser(str(entry.get("optimizer", "sgd")))
    settings: dict[str, Any] = {
        "batch": int(entry.get("micro_batch_size", 1)), "replicas": replicas, "optimiser": chosen,
        "accumulation": int(entry.get("gradient_accumulation", 1)) if training else 1,
        "device_iterations": int(entry.get("device_iterations", 1)),
        "host_input": "bytes" if entry.get("eight_bit_io") else "model",
        "shard_optimiser": bool(entry.get("enable_optimizer_rts", False)),
        **_precision(str(entry.get("precision", "16.16")), entry.get("half_partial", False)),
        **proportions(entry.get("available_memory_proportion"), ()),
    }  # fmt: skip
    if splits:
        settings |= {"splits": splits, "schedule": "grouped"} | ({"recompute": "stages"} if training else {})
    io_tiles = 0 if training else INFERENCE_IO_TILES.get(str(entry["model"]), 0)
    if io_tiles:
        tiles = int(facts()["tile.count"].value) - io_tiles
        settings["machine"] = {"host.io_tiles": float(io_tiles), "tile.count": float(tiles)}
    names = (str(each) for each in entry.get("recompute_checkpoints") or ())
    kept = tuple(filter(None, (_torch_checkpoint(each, str(entry["model"])) for each in names)))
    # a pipeline always recomputes, one IPU only where it is told to
    if kept and training and (splits or entry.get("recompute_mode") == "manual"):
        settings |= {"recompute": "checkpoints", "checkpoints": kept}
    return Configuration(
        **identity(name, entry), model=str(entry["model"]) + ("-g16" if grouped else ""),
        task="train" if training else "infer", framework="pytorch", ipus=replicas * (len(splits) + 1),
        settings=settings, assumed=("optimiser",) if stand_in and training else (),
    )  # fmt: skip


def _precision(text: str, half_partials: Any) -> dict[str, Any]:
    """ "16.16": type of activations, then of the stored weights and their optimiser state."""
    activations, _, stored = text.partition(".")
    return {
        "precision": "fp32" if activations == "32" else "fp16",
        "partials": "fp16" if half_partials and activations != "32" else "fp32",
        "state_precision": "fp16" if stored == "16" else "fp32",
    }


def _tf_split(text: str) -> str:
    """ "b1/0/relu" and "stage1/unit1/relu" name the same block; "block4a" is ours too."""
    found = TF_UNIT.match(text)
    if found is None:
        return text
    stage, place, stage_named, unit = found.groups()
    return f"stage{stage or stage_named}.block{int(place) + 1 if place else int(unit)}.relu3"


def _torch_split(text: str) -> str:
    found = TIMM.match(text)
    if found is None:
        return text.replace("/", ".")
    return f"block{int(found.group(1)) + 1}{chr(ord('a') + int(found.group(2)))}.{TIMM_LAYERS[found.group(3)]}"


def _torch_checkpoint(text: str, model: str) -> str | None:
    """Names of an fx trace: "add_5" is the sixth sum of a block and its input; the pool and the dense layer keep
    little."""
    if text == "add" or text.startswith("add_"):
        sums = _sums(model)
        index = int(number(text.partition("_")[2], 0))
        return sums[index] if index < len(sums) else None
    layer = TORCH_LAYER.match(text)
    if layer is not None:
        stage, place, kind, which = layer.groups()
        return f"stage{stage}.block{int(place) + 1}.conv{which}" + (".norm" if kind == "bn" else "")
    shortcut = TORCH_SHORTCUT.match(text)
    if shortcut is not None:
        stage, place, which = shortcut.groups()
        return f"stage{stage}.block{int(place) + 1}.projection" + (".norm" if which == "1" else "")
    return None


def _sums(model: str) -> list[str]:
    """Sums of blocks with their inputs, in order: every block of a ResNet has one, of an EfficientNet all but the first
    of each stage (which changes the shape)."""
    if model not in DEPTHS:
        stages = enumerate(RESNET50_BLOCKS, start=1)
        return [f"stage{stage}.block{place + 1}.add" for stage, blocks in stages for place in range(blocks)]
    repeats = [math.ceil(blocks * DEPTHS[model]) for blocks in B0_BLOCKS]
    return [
        f"block{stage}{chr(ord('a') + place)}.add"
        for stage, blocks in enumerate(repeats, start=1)
        for place in range(1, blocks)
    ]
