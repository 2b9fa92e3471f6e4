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
    "bert-sliced": ("bert.build_pretraining", {**BERT, "mask_tokens": 3, "masked_first": 1}),
    "bert-packed-sliced": ("bert.build_pretraining", {**BERT, "mask_tokens": 3, "pack": 3, "masked_first": 1}),
    "squad": ("bert.build_squad", {**BERT, "kinds": 1, "decomposed_gelu": 1}),
    "distilled": ("bert.build_squad", {**BERT, "kinds": 0}),
    "roformer": ("bert.build_classifier", {**BERT, "classes": 5, "turned": True}),
    "efficientnet": ("efficientnet.build", {**EFFICIENT, "group": 1, "expand": 6, "norm_groups": 0}),
    "efficientnet-g16": ("efficientnet.build", {**EFFICIENT, "group": 16, "expand": 4, "norm_groups": 4}),
    "vit": ("vit.build", {**IMAGE, "layers": 2, "width": 32, "heads": 4, "patch": 8, "size": 32}),
    "gpt2": ("gpt2.build", GPT),
    "gps": ("gps.build", {"layers": 2, "nodes": 5, "edges": 6, "graphs": 2}),
    "graphsage": (
        "graphsage.build",
        {"nodes": 5, "edges": 6, "features": 8, "hidden": 12, "classes": 3, "layers": 2},
    ),
    "schnet": (
        "schnet.build",
        {"nodes": 6, "graphs": 2, "neighbours": 3, "features": 8, "interactions": 4, "gaussians": 5},
    ),
    "swin": (
        "swin.build",
        {**IMAGE, "depths": [2, 2], "width": 16, "heads": [2, 4], "size": 32, "window": 2, "qkv_products": 1},
    ),
    "dino": (
        "dino.build",
        {
            "layers": 2,
            "width": 16,
            "heads": 2,
            "patch": 8,
            "size": 32,
            "small_size": 16,
            "crops": 3,
            "targets": 12,
            "qkv_products": 1,
            "decomposed_gelu": 0,
        },
    ),
    "clip": (
        "clip.build",
        {
            "layers": 2,
            "width": 16,
            "heads": 2,
            "patch": 8,
            "size": 16,
            "text_width": 8,
            "text_heads": 2,
            "sequence": 6,
            "vocab": 20,
            "shared": 8,
        },
    ),
    "clip-text": ("clip.build_text", {"layers": 2, "width": 16, "heads": 2, "sequence": 6, "vocab": 20}),
    "clip-labels": (
        "clip.build_labeller",
        {"layers": 2, "width": 16, "heads": 2, "patch": 8, "size": 16, "shared": 8, "texts": 5},
    ),
    "deberta": (
        "deberta.build_squad",
        {
            "layers": 2,
            "width": 16,
            "heads": 2,
            "sequence": 8,
            "vocab": 20,
            "reach": 6,
            "dropout": 10,
            "attention_dropout": 0,
        },
    ),
    "lstm": ("lstm.build", {"layers": 2, "features": 5, "hidden": 8, "sequence": 6, "classes": 4}),
    "rnnt": (
        "rnnt.build",
        {
            "features": 6,
            "frames": 8,
            "tokens": 3,
            "vocab": 9,
            "encoder": 8,
            "before": 2,
            "after": 1,
            "stacked": 2,
            "predictor": 6,
            "prediction_layers": 2,
            "joint": 7,
            "dropped": 30,
        },
    ),
    "conformer": (
        "conformer.build_speech",
        {
            "layers": 2,
            "decoder_layers": 1,
            "width": 8,
            "heads": 2,
            "ffn": 16,
            "kernel": 5,
            "frames": 24,
            "features": 10,
            "tokens": 4,
            "vocab": 11,
            "dropped": 10,
            "frame_share": 30,
        },
    ),
    "conformer-encoder": (
        "conformer.build_image",
        {
            "layers": 1,
            "width": 8,
            "heads": 2,
            "ffn": 16,
            "kernel": 5,
            "channels": 3,
            "height": 8,
            "length": 16,
            "dropped": 10,
        },
    ),
    "unet": ("unet.build", {"levels": 2, "width": 4, "channels": 1, "size": 44, "classes": 3}),
    "wide-deep": (
        "widedeep.build",
        {"categories": 3, "numbers": 2, "hidden": [6, 5], "buckets": 4, "width": 3},
    ),
    "ghostnet": ("ghostnet.build", {"width": 0.25, "size": 32}),
    "albert": ("bert.build_squad", {**BERT, "narrow": 8}),
    "resnet-basic": ("resnet.build", {**RESNET, "basic": True}),
    "mobilenet-v1": ("mobilenet.build_v1", {"size": 32}),
    "mobilenet-v2": ("mobilenet.build_v2", {"size": 32}),
    "mobilenet-v3": ("mobilenet.build_v3", {"size": 32, "large": False}),
}
