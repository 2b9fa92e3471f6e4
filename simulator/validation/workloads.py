"""Reads the words for a model ("BERT Large Ph2 Pre-Training (SL384)") into a zoo model and its dimensions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simulator.datafiles import read_data
from simulator.validation.figures import Subject
from simulator.validation.loaders import loader_of

SEQUENCE = re.compile(r"\bsl\s*(\d{2,5})", re.I)
MASKED = {128: 20, 384: 56, 512: 76}  # tokens predicted a sequence, MLPerf and Graphcore's BERT configurations
# sequences in a pack on average, by length: Graphcore's BERT configurations (packing_factor)
PACKED = {128: 1.17, 384: 1.7, 512: 2.0}
LOADING = ("host_input", "prefetch_depth", "loader_workers")  # what a loader costs ("machine") no row says
KERNEL_SHAPE = re.compile(r"(\d+)x(\d+)\s*->\s*(\d+)")
MESH = re.compile(r"(\d{2,})\s*x\s*(\d{2,})|(\d{2,})\^3")
BETWEEN = re.compile(r"[\s_./,:()\[\]-]+")  # what parts of a name may be joined by
STEPS = re.compile(r"(\d+)\s+steps")


@dataclass(frozen=True)
class Workload:
    """``model`` of the zoo with ``dims``; ``settings`` where nobody says otherwise; 0 samples: not known.

    ``worded`` names those of the settings that the row's own words tell.
    """

    model: str
    dims: dict[str, int]
    settings: dict[str, Any]
    samples: int
    evaluation: int
    sequences_in_pack: float
    inference_packs: bool
    worded: tuple[str, ...]
    refused: str = ""
    epochs: int = 0  # that a run is configured for, 0: it trains until it converges
    record_seconds: float = 0.0  # in which a loader's worker prepares one sample


@lru_cache(maxsize=1)
def _entries() -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = read_data("simulator.validation", "workloads.yaml")
    return parsed


def workload_of(subject: Subject) -> Workload | None:
    """The zoo model that stands for a row, or None when its words name none."""
    for entry in _entries():
        if entry.get("task", subject.task) == subject.task and _is_called(entry, subject.model):
            return _workload(entry, subject)
    return None


def _is_called(entry: dict[str, Any], words: str) -> bool:
    """Whether an entry stands for ``words``: by its pattern of words, or by that of a name however it is written."""
    if "named" in entry:
        return re.search(entry["named"], BETWEEN.sub("-", words), re.I) is not None
    return re.search(entry["words"], words, re.I) is not None


def why_none(subject: Subject) -> str:
    """Why ``workload_of`` found nothing for a row."""
    if not subject.model:
        return "the row names no model"
    tasks = {entry["task"] for entry in _entries() if "task" in entry and _is_called(entry, subject.model)}
    if not tasks:
        return f"no built-in model stands for '{subject.model}'"
    said = f"its task '{subject.task}' is none that it is run for" if subject.task else "the row does not say its task"
    return f"{said}: {' or '.join(sorted(tasks))}"


def _workload(entry: dict[str, Any], subject: Subject) -> Workload:
    words, training = subject.model, subject.task == "train"
    dims = dict(entry.get("dims", {}))
    length = SEQUENCE.search(words)
    if length is not None and "sequence" in dims:
        dims["sequence"] = int(length.group(1))
    model = entry["model"]
    if model in ("bert-base", "bert-large"):
        dims["mask_tokens"] = MASKED.get(dims["sequence"], max(1, dims["sequence"] * 15 // 100))
    packed = "(mlperf)" in words.lower() or "packed" in words.lower()
    factor = PACKED.get(dims.get("sequence", 0), 1.0) if packed and training and "bert" in model else 1.0
    if "decomposed_gelu" in dims and "gelu" in subject.precision.lower():
        del dims["decomposed_gelu"]  # the fused one is named with the precision
    dims.update(_shape(model, words))
    loader = loader_of(entry.get("loader", ""), words)
    return Workload(
        model="zoo:" + model,
        dims=dims,
        settings=dict(entry.get("settings", {})) | ({"machine": loader.machine} if loader.machine else {}),
        samples=int(entry.get("samples", {}).get("value", 0)),
        evaluation=int(entry.get("evaluation", {}).get("value", 0)),
        sequences_in_pack=float(entry.get("in_pack", factor)),
        inference_packs=packed and not training,
        worded=LOADING if "in_pack" in entry else (),
        refused=str(entry.get("refused", "")),
        epochs=int(entry.get("epochs", {}).get("value", 0)),
        record_seconds=loader.record_seconds,
    )


def _shape(model: str, words: str) -> dict[str, int]:
    """Sizes of a kernel or of a mesh that its name states."""
    kernel = KERNEL_SHAPE.search(words)
    if kernel is not None and model in ("gather", "scatter-add", "schnet-block"):
        return dict(zip(("inputs", "features", "outputs"), map(int, kernel.groups()), strict=True))
    mesh = MESH.search(words)
    if mesh is None or not model.startswith(("stencil", "blur")):
        return {}
    width, height, edge = mesh.groups()
    sizes = {"width": int(edge or width), "height": int(edge or height)}
    if edge:
        sizes["depth"] = int(edge)
    steps = STEPS.search(words)
    return sizes | ({"steps": int(steps.group(1))} if steps else {})
