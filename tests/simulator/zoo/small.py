"""Every family of the zoo at a few layers and columns: the same builders, small enough to compute."""

from __future__ import annotations

from typing import Any

BERT = {
    "layers": 2, "width": 32, "heads": 4, "sequence": 16, "vocab": 40, "pack": 1, "qkv_products": 3, "dropout": 10,
    "attention_dropout": 0,
}  # fmt: skip
GPT = {key: value for key, value in BERT.items() if key != "pack"}
IMAGE = {"classes": 7, "qkv_products": 3, "dropout": 0, "attention_dropout": 0}
EFFICIENT = {"width": 0.25, "depth": 0.25, "size": 32, "classes": 7, "dropped": 20}
RESNET = {"blocks": [1, 1, 1, 1], "cardinality": 1, "group_width": 8, "size": 32, "norm_groups": 0}

SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "mnist": ("mnist.build", {}),
    "resnet": ("resnet.build", RESNET),
    "resnext": ("resnet.build", {**RESNET, "cardinality": 4, "group_width": 4, "norm_groups": 4}),
    "bert": ("bert.build_pretraining", {**BERT, "mask_tokens": 3}),
    "bert-fused": ("bert.build_pretraining", {**BERT, "mask_tokens": 3, "qkv_products": 1}),
    "bert-packed": ("bert.build_pretraining", {**BERT, "mask_tokens": 3, "pack": 3}),
    "squad": ("bert.build_squad", {**BERT, "kinds": 1}),
    "roformer": ("bert.build_classifier", {**BERT, "classes": 5, "turned": True}),
    "efficientnet": ("efficientnet.build", {**EFFICIENT, "group": 1, "expand": 6, "norm_groups": 0}),
    "efficientnet-g16": ("efficientnet.build", {**EFFICIENT, "group": 16, "expand": 4, "norm_groups": 4}),
    "vit": ("vit.build", {**IMAGE, "layers": 2, "width": 32, "heads": 4, "patch": 8, "size": 32}),
    "gpt2": ("gpt2.build", GPT),
}
