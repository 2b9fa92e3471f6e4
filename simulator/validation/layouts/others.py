"""Run configurations of transducers, Conformer, graph networks and of inference on the C600 card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.validation.layouts.entry import Configuration, identity

SQUAD_TOKENS = 170  # a question of SQuAD with its context, on average; assumed
TILES = 1472  # of a C600
BACK_END = "bytedance/ByteMLPerf: byte_infer_perf/general_perf/backends/IPU/interact_infos"
GRAPHS = 3.6  # molecules of PCQM4Mv2 in a pack of 60 nodes, on average: 14 heavy atoms each, packs nearly full
FILLED = 0.9  # of a row of 384 tokens that packing fills; assumed


def rnnt(name: str, entry: Mapping[str, Any]) -> Configuration:
    """MLPerf's Transformer-Transducer: two IPUs a replica, the optimiser's state sharded and off the chip, as the
    program's conf_utils.py has it."""
    replicas, per = int(entry["replicas"]), int(entry["ipus_per_replica"])
    settings = {
        "batch": int(entry["micro_batch_derived"]), "replicas": replicas, "stages": per, "precision": "fp16",
        "accumulation": int(entry["gradient_accumulation"]), "recompute": "stages", "optimiser": "lamb",
        "partials": "fp16" if entry.get("half_partials") else "fp32", "shard_optimiser": True, "offload": "optimiser",
    }  # fmt: skip
    return Configuration(
        **identity(name, entry), model="rnnt", task="train", framework="popart", ipus=replicas * per,
        settings=settings, assumed=("splits",),
    )  # fmt: skip


# encoder.encoders__2., __6. and __11. begin on the next IPU: speech/conformer/pytorch/configs/train.yaml
CONFORMER_SPLITS = ("layer2.", "layer6.", "layer11.")


def conformers(name: str, entry: Mapping[str, Any]) -> list[Configuration]:
    """One configuration a pod: ``pod16`` and ``pod64`` differ in replicas and accumulation."""
    per = int(entry["ipus_per_replica"])
    found = []
    for pod in (key for key in entry if key.startswith("pod")):
        settings = {
            "batch": int(entry["batch_size"]), "replicas": int(entry[pod]["replicas"]), "splits": CONFORMER_SPLITS,
            "accumulation": int(entry[pod]["gradient_accumulation"]), "precision": "fp16", "partials": "fp16",
            "optimiser": "adam", "recompute": "stages", "host_input": "device", "available_memory_proportion": 0.3,
        }  # fmt: skip
        found.append(
            Configuration(
                **{**identity(name, entry), "name": f"{name}-{pod}"}, model="conformer-medium", task="train",
                framework="pytorch", ipus=per * int(entry[pod]["replicas"]), settings=settings,
                assumed=("optimiser", "recompute"),
            )
        )  # fmt: skip
    return found


def schnet(name: str, entry: Mapping[str, Any]) -> Configuration:
    """PyTorch's SchNet over packed molecules."""
    batch = entry["combined_batch"]
    replicas = int(batch["replication_factor"])
    settings: dict[str, Any] = {
        "batch": int(batch["model_batch_size"]), "replicas": replicas, "precision": "fp32", "optimiser": "adam",
        "accumulation": int(batch["gradient_accumulation"]), "device_iterations": int(batch["device_iterations"]),
        "prefetch_depth": int(entry.get("prefetch_depth", 1)), "loader_workers": int(entry.get("max_workers", 32)),
        "host_input": "device" if entry.get("synthetic_data") else "model",
    }  # fmt: skip
    return Configuration(
        **identity(name, entry), model="schnet", task="train", framework="pytorch", ipus=replicas, settings=settings
    )


def gps(name: str, entry: Mapping[str, Any]) -> Configuration:
    """TensorFlow 2's GPS++ over packed molecules, one IPU a replica."""
    micro, total, graphs = int(entry["micro_batch_size"]), int(entry["target_total_batch_size"]), GRAPHS
    settings = {
        "batch": micro, "precision": "fp16", "partials": "fp32", "optimiser": "adam",
        "accumulation": max(1, round(total / graphs / micro / 4)),
    }  # fmt: skip
    return Configuration(
        **identity(name, entry), model="gps", task="train", framework="tensorflow", settings=settings,
        assumed=("accumulation", "partials"),
    )  # fmt: skip


def card_inference(name: str, entry: Mapping[str, Any]) -> list[Configuration]:
    """ByteMLPerf on the C600: one configuration for fp16 and one for fp8; ``clients`` keep batches in flight."""
    base, compiler = "resnet50" if "resnet" in name else "bert-base-squad", entry.get("compiler_options", {})
    settings: dict[str, Any] = {"precision": "fp16", "device_iterations": int(compiler.get("batches_per_step", 1))}
    if "available_memory_proportion" in compiler:
        settings["available_memory_proportion"] = float(compiler["available_memory_proportion"])
    if "clients" in entry:
        settings["queue_depth"] = int(entry["clients"])
    if "num_iotiles" in compiler:
        settings["machine"] = {
            "host.io_tiles": int(compiler["num_iotiles"]),
            "tile.count": TILES - int(compiler["num_iotiles"]),
        }
    pack = entry.get("pack_config")
    if pack:
        settings |= {"batch": int(pack["batch_size"])}
        most = float(pack["max_pack_num"]) / float(pack["batch_size"])
        settings |= {"sequences_in_pack": min(most, round(FILLED * 384 / SQUAD_TOKENS, 2))}
    dims = {"sequence": 384} if pack else {}
    return [
        Configuration(
            **{**identity(name, {"source": BACK_END, **entry}), "chip": "C600"}, model=base, task="infer",
            framework="poprt", dims=dims, settings=settings, assumed=("sequences_in_pack",) if pack else (),
        )
    ]  # fmt: skip
