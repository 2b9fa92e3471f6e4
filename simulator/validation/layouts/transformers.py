"""Run configurations of BERT, ViT and GPT-2, as applications of PopART, TensorFlow 2, PyTorch and Paddle write them.

How layers lie on IPUs is turned into the names at which pipeline stages begin. A pre-training head shares its weight
with the embedding, so it is a stage of its own that returns to IPU 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.validation.layouts.entry import Configuration, identity, number, optimiser, proportions

HEAD = "head."
LAYERS = {768: 12, 1024: 24}  # of BERT-Base and BERT-Large, by width
# Paddle's MLPerf v2.0 entry, bert.py: [attention blocks, feed-forward blocks] on IPU 1 to 7 and then 0, and the memory
# proportion, of a POD16 and of a POD64
PADDLE = {
    16: (([3, 3], [4, 3], [3, 3], [3, 4], [4, 3], [3, 4], [4, 3], [0, 1]), 0.3),
    64: (([3, 3], [3, 3], [3, 3], [4, 3], [3, 4], [4, 3], [3, 4], [1, 1]), 1.0),
}
# the same file, modeling.py and the run scripts: both moments in half, inputs fetched three batches ahead, the head in
# four steps, one product for queries, keys and values, and dropout on attention
PADDLE_SETTINGS = {"shard_optimiser": True, "state_precision": "fp16", "prefetch_depth": 3, "embedding_steps": 4}
HEAD_PROPORTION = 0.6  # the head, on IPU 0, is left at PopLibs' own
PADDLE_ENTRY = {"split_qkv": False, "no_attn_dropout": False, "vocab_size": 30912}
# graphcore/examples: vision/vit/pytorch: configs.yml has these workers, dropout for every run (on attention too where
# it trains from scratch) and the optimiser (LAMB, Adam, or SGD with momentum); args.py has half partials
VIT_WORKERS = 64
MLPERF_PACK = 2.0  # sequences in a pack of 512 tokens, MLPerf BERT


def layer(index: int) -> str:
    """Where encoder layer ``index`` begins."""
    return f"layer{index}."


def stages_of_layers(counts: list[int], first_ipu: int, tied: bool) -> dict[str, Any]:
    """``counts`` layers on successive IPUs; with ``first_ipu`` 1 (or no layer on IPU 0) the embedding is alone."""
    splits: list[str] = []
    ipus = [0]
    placed = 0
    for ipu, count in enumerate(counts, start=first_ipu):
        if ipu > 0 and count > 0:
            splits.append(layer(placed))
            ipus.append(ipu)
        placed += count
    if tied and len(ipus) > 1:
        splits.append(HEAD)
        ipus.append(0)
    return {"splits": tuple(splits), "stage_ipus": tuple(ipus)} if splits else {}


def stages_of_halves(placement: list[Any]) -> dict[str, Any]:
    """[[IPU, [attention blocks, feed-forward blocks]], ...] after the embedding on IPU 0."""
    splits: list[str] = []
    ipus = [0]
    attention = ffn = 0
    for ipu, (attentions, ffns) in placement:
        splits.append(f"layer{ffn}.ffn." if attention > ffn else layer(attention))
        ipus.append(int(ipu))
        attention, ffn = attention + attentions, ffn + ffns
    return {"splits": tuple(splits), "stage_ipus": tuple(ipus)}


def popart_bert(name: str, entry: Mapping[str, Any]) -> Configuration:
    """PopART: ``layers_per_ipu`` or ``att_ffn_placement``; ``global_batch_size`` where accumulation is not given."""
    training, squad = not entry.get("inference", False), entry.get("task") == "SQUAD"
    replicas = int(entry.get("replication_factor", 1))
    micro = int(entry.get("batch_size") or entry.get("micro_batch_size") or 1)
    if "att_ffn_placement" in entry:
        stages = stages_of_halves(entry["att_ffn_placement"])
    else:
        stages = stages_of_layers(list(entry["layers_per_ipu"]), int(entry.get("encoder_start_ipu", 0)), not squad)
    accumulation = entry.get("gradient_accumulation_factor")
    if accumulation is None:
        accumulation = round(int(entry.get("global_batch_size", micro * replicas)) / (micro * replicas))
    settings = _bert_settings(entry, micro, replicas, int(accumulation) if training else 1, stages, training)
    settings["device_iterations"] = int(entry.get("batches_per_step", 1))
    if entry.get("use_half_optimizer_state"):
        settings["state_precision"] = "fp16"
    elif "FLOAT16" in (entry.get("lamb_m_dtype"), entry.get("lamb_accl_dtype")):
        settings["state_precision"] = "mixed"
    if "host_servers" in entry:
        settings["hosts"] = int(entry["host_servers"])
    pack = _pack(entry, name.startswith("mlperf"))
    settings |= {"sequences_in_pack": pack} if pack > 1 else {}
    return _bert(name, entry, "popart", squad, training, replicas, settings)


def _pack(entry: Mapping[str, Any], mlperf: bool) -> float:
    given = entry.get("avg_seq_per_pack")
    if given is None and mlperf:
        given = MLPERF_PACK
    if given is None and (entry.get("use_packed_sequence_format") or entry.get("packed_data")):
        given = entry.get("packing_factor", {}).get(entry["sequence_length"]) or {128: 1.17, 384: 1.7, 512: 2.0}.get(
            entry["sequence_length"], 1.0
        )
    return float(given or 1.0)


def _bert_settings(
    entry: Mapping[str, Any], micro: int, replicas: int, accumulation: int, stages: dict[str, Any], training: bool
) -> dict[str, Any]:
    chosen, _ = optimiser(str(entry.get("optimizer", "LAMB")))
    memory = entry.get("available_memory_proportion", entry.get("matmul_proportion"))
    settings: dict[str, Any] = {
        "batch": micro, "replicas": replicas, "accumulation": accumulation, "precision": "fp16",
        "partials": "fp16" if entry.get("enable_half_partials", True) else "fp32", "optimiser": chosen,
        **stages, **proportions(memory, stages.get("stage_ipus", ())),
    }  # fmt: skip
    if training:
        settings |= {
            "schedule": "grouped", **_recomputed(entry, stages),
            "shard_optimiser": bool(entry.get("replicated_tensor_sharding", False)),
            "offload": "optimiser" if entry.get("optimizer_state_offchip") else "none",
            "embedding_steps": int(
                entry.get("embedding_serialization_vocab_steps") or entry.get("embedding_serialization_factor") or 1
            ),
        }  # fmt: skip
    return settings


def _recomputed(entry: Mapping[str, Any], stages: dict[str, Any]) -> dict[str, Any]:
    """Pipelines keep what enters each layer and compute the rest again."""
    if not stages:
        return {"recompute": "none"}
    layers = int(
        entry.get("num_layers") or entry.get("num_hidden_layers") or LAYERS[int(entry.get("hidden_size", 1024))]
    )
    return {"recompute": "checkpoints", "checkpoints": tuple(layer(index) for index in range(layers))}


def _bert(
    name: str, entry: Mapping[str, Any], framework: str, squad: bool, training: bool, replicas: int,
    settings: dict[str, Any],
) -> Configuration:  # fmt: skip
    large = int(entry.get("hidden_size", 1024)) == 1024
    dims = {"sequence": int(entry.get("sequence_length", 512))}
    if not squad:
        dims["mask_tokens"] = int(entry.get("mask_tokens", 76))
    vocabulary = entry.get("vocab_length") or entry.get("vocab_size")
    if vocabulary:
        dims["vocab"] = int(vocabulary)
    if "split_qkv" in entry and not entry["split_qkv"]:
        dims["qkv_products"] = 1
    if entry.get("no_attn_dropout") is False:
        dims["attention_dropout"] = 10
    _, stand_in = optimiser(str(entry.get("optimizer", "LAMB")))
    ipus = max(settings.get("stage_ipus", (0,))) + 1
    return Configuration(
        **identity(name, entry), model=f"bert-{'large' if large else 'base'}{'-squad' if squad else ''}",
        task="train" if training else "infer", framework=framework, ipus=replicas * ipus, dims=dims,
        settings=settings, assumed=("optimiser",) if stand_in and training else (),
    )  # fmt: skip


def pytorch_bert(name: str, entry: Mapping[str, Any]) -> Configuration:
    """PyTorch: an IPU without layers holds the embedding and the tied head."""
    replicas, micro = int(entry["replication_factor"]), int(entry["micro_batch_size"])
    stages = stages_of_layers(list(entry["layers_per_ipu"]), 0, tied=True)
    settings = _bert_settings(entry, micro, replicas, int(entry["gradient_accumulation"]), stages, training=True)
    settings |= {"loader_workers": int(entry["dataloader_workers"])} if "dataloader_workers" in entry else {}
    pack = _pack(entry, mlperf=False)
    settings |= {"sequences_in_pack": pack} if pack > 1 else {}
    return _bert(name, entry, "pytorch", False, True, replicas, settings)


def tensorflow_bert(name: str, entry: Mapping[str, Any]) -> Configuration:
    """TensorFlow 2: stages are lists of what lies in them ("emb", "hid", "enc_out"), with the IPU of each."""
    batch, ipu = entry["global_batch"], entry["ipu_config"]
    splits: list[str] = []
    placed = 0
    for index, content in enumerate(ipu["pipeline_stages"]):
        if index:
            splits.append(layer(placed) if "hid" in content else HEAD)
        placed += content.count("hid")
    stages = {"splits": tuple(splits), "stage_ipus": tuple(int(each) for each in ipu["pipeline_device_mapping"])}
    filled = {
        "hidden_size": 1024 if "large" in name else 768,
        "sequence_length": int(entry["max_seq_length"]),
        "mask_tokens": {128: 20, 384: 56, 512: 76}.get(int(entry["max_seq_length"]), 20),
        "matmul_proportion": ipu.get("matmul_available_memory_proportion_per_pipeline_stage"),
        # utilities/options.py: both are on unless a file says otherwise, and sharding excludes state off the chip
        "replicated_tensor_sharding": ipu.get("replicated_tensor_sharding", False),
        "optimizer_state_offchip": not ipu.get("replicated_tensor_sharding", False),
        "embedding_serialization_factor": 2,
        **entry,
    }
    replicas = int(batch["replicas"])
    settings = _bert_settings(
        filled, int(batch["micro_batch_size"]), replicas, int(batch["grad_acc_steps_per_replica"]), stages, True
    )
    found = _bert(name, filled, "tensorflow", False, True, replicas, settings)
    return Configuration(**{**found.__dict__, "assumed": ("optimiser", "partials")})


def paddle_bert(name: str, entry: Mapping[str, Any]) -> Configuration:
    """Paddle's MLPerf entry: eight IPUs a replica; what its files do not say is in its program."""
    replicas, per = int(entry["local_num_replicas"]), int(entry["ipus_per_replica"])
    placement, proportion = PADDLE[64 if replicas * per >= 64 else 16]
    stages = stages_of_halves([[ipu % per, halves] for ipu, halves in enumerate(placement, start=1)])
    each = [min(proportion, HEAD_PROPORTION), *[proportion] * (per - 1)]
    entry = {**PADDLE_ENTRY, "available_memory_proportion": each, **entry}
    settings = _bert_settings(
        entry, int(entry["micro_batch_size"]), replicas, int(entry["grad_acc_factor"]), stages, training=True
    )
    settings |= {**PADDLE_SETTINGS, "sequences_in_pack": float(entry.get("avg_seq_per_pack", 1))}
    found = _bert(name, entry, "paddle", False, True, replicas, settings)
    return Configuration(**{**found.__dict__, "ipus": replicas * per, "chip": "BOW"})


def vit(name: str, entry: Mapping[str, Any]) -> Configuration:
    """PyTorch's vision transformer: layers on successive IPUs, the head on the last."""
    training = not name.endswith("_valid")
    replicas = int(entry["replication_factor"])
    stages = stages_of_layers(list(entry["layers_per_ipu"]), 0, tied=False)
    chosen, _ = optimiser("lamb" if name.endswith("_lamb") else "adam" if name.endswith("_pretrain") else "sgd")
    dims = {"dropout": 10} if training else {}
    dims |= {"attention_dropout": 10} if training and "pretrain" in name else {}
    settings: dict[str, Any] = {
        "batch": int(entry["micro_batch_size"]), "replicas": replicas,
        "accumulation": int(entry["gradient_accumulation"]) if training else 1, "precision": "fp16",
        "partials": "fp16", "optimiser": chosen, "device_iterations": int(entry["device_iterations"]),
        "prefetch_depth": int(entry.get("prefetch_depth", 1)),
        "host_input": "bytes" if entry.get("byteio") else "model",
        **stages, **proportions(entry.get("matmul_proportion"), stages["stage_ipus"]),
    }  # fmt: skip
    if training:
        settings |= {
            **_recomputed(entry, stages), "schedule": "grouped", "shard_optimiser": bool(entry.get("enable_rts")),
            "offload": "optimiser" if entry.get("optimizer_state_offchip") else "none",
            "loader_workers": VIT_WORKERS,
        }  # fmt: skip
    large = int(entry["hidden_size"]) == 1024
    return Configuration(
        **identity(name, entry), model="vit-l16" if large else "vit-b16", task="train" if training else "infer",
        framework="pytorch", ipus=replicas * int(entry["ipus_per_replica"]), dims=dims, settings=settings,
    )  # fmt: skip


def gpt2(name: str, entry: Mapping[str, Any]) -> Configuration:
    """PyTorch's GPT-2: the embedding and the tied head alone on IPU 0."""
    replicas = int(entry["replication_factor"])
    stages = stages_of_layers(list(entry["layers_per_ipu"]), 0, tied=True)
    settings: dict[str, Any] = {
        "batch": int(entry["batch_size"]), "replicas": replicas, "accumulation": int(entry["gradient_accumulation"]),
        "precision": "fp16", "partials": "fp16", "optimiser": "adamw", "recompute": "stages", "schedule": "grouped",
        "device_iterations": int(entry["device_iterations"]), "shard_optimiser": True, "offload": "optimiser",
        "embedding_steps": int(number(entry.get("embedding_serialization_factor"), 1)),
        **stages, **proportions(entry.get("matmul_proportion"), stages["stage_ipus"]),
    }  # fmt: skip
    return Configuration(
        **identity(name, entry), model="gpt2-medium" if "medium" in name else "gpt2-small", task="train",
        framework="pytorch", ipus=replicas * int(entry["ipus_per_replica"]), dims={"sequence": int(entry["max_len"])},
        settings=settings, assumed=("optimiser", "partials", "shard_optimiser", "offload"),
    )  # fmt: skip
