"""Settings that somebody gave and that change nothing in this run, each with the reason. It judges no values.

A test changes every setting in many runs and compares: what is named here changes no figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from simulator.config import RunConfig
from simulator.graph.graph import Graph, Kind, Pass, Role
from simulator.parallel.feeding import FROM_BYTES, picture_pixels
from simulator.parallel.serialising import products_of_table
from simulator.report.parts import Parts

DEFAULTS = RunConfig()
SAME_AGE = 1e-6  # work of an older SDK against that of the newest, no more than this apart
OF_UPDATES = ("optimiser", "recompute", "checkpoints", "shard_optimiser", "offload", "state_precision", "loss_scale")
BETWEEN_IPUS = ("links.", "collectives.", "fitted.link", "link")


def without_effect(parts: Parts) -> list[tuple[str, str]]:
    """(setting, why it changes nothing) of those that were given, and not what they are anyway."""
    found: list[tuple[str, str]] = []
    for name, reason in REASONS.items():
        if parts.origins.get(name) == "given" and getattr(parts.config, name) != getattr(DEFAULTS, name):
            why = reason(parts)
            found += [(name, why)] if why else []
    return found + list(_constants(parts))


def _constants(parts: Parts) -> Iterator[tuple[str, str]]:
    if parts.origins.get("machine") == "given" and parts.parallel.ipus == 1:
        for name in parts.config.machine:
            if name.startswith(BETWEEN_IPUS):
                yield name, "one IPU has no other to talk to"


def _of_update(parts: Parts) -> str:
    return "" if parts.config.training else "inference has no backward pass and updates nothing"


def _of_scale(parts: Parts) -> str:
    """Whether the loss is multiplied at all is the same with it as without."""
    alike = (parts.config.precision == "fp16") == (parts.config.loss_scale != 1)
    return _of_update(parts) or ("it decides the numbers of a run: any other costs the same" if alike else "")


def _of_state(parts: Parts) -> str:
    held = any(_has_state(each.graph) for each in parts.classes)
    return _of_update(parts) or ("" if held else f"{parts.config.optimiser} keeps no state beside the weights")


def _has_state(graph: Graph) -> bool:
    tensors = graph.tensors
    return any(prod(tensors.shape[i]) > 1 for i in np.flatnonzero(tensors.role == Role.OPTIMISER_STATE).tolist())


def _of_recompute(parts: Parts) -> str:
    again = any((each.graph.ops.pass_ == Pass.RECOMPUTE).any() for each in parts.classes)
    nothing = "" if again else "nothing is computed anew: what the last stage has is used by its backward pass at once"
    return _of_update(parts) or nothing


def _of_checkpoints(parts: Parts) -> str:
    unused = parts.config.recompute != "checkpoints"
    return _of_update(parts) or (f"recompute is '{parts.config.recompute}', not 'checkpoints'" if unused else "")


def _of_shares(parts: Parts) -> str:
    if parts.parallel.replicas == 1:
        return _of_update(parts) or "there is one replica, so nobody to share with"
    least = parts.ipu.whole("update.shard_minimum")
    sizes = (prod(parts.whole.tensors.shape[weight]) for weight, _ in parts.whole.gradients)
    small = max(sizes, default=0) < least
    return _of_update(parts) or (f"every weight has fewer than {least:,} elements and stays whole" if small else "")


def _of_schedule(parts: Parts) -> str:
    if parts.parallel.stages == 1:
        return "there is one stage"
    return "" if parts.config.training else "inference only goes forwards"


def _of_partials(parts: Parts) -> str:
    if parts.config.precision == "fp32":
        return "products of fp32 always accumulate in fp32"
    return _of_products(parts)


def _of_products(parts: Parts) -> str:
    kinds = [int(Kind.MATMUL), int(Kind.CONV)]
    held = any(np.isin(each.graph.ops.kind, kinds).any() for each in parts.classes)
    return "" if held else "there is no matrix product"


def _of_proportion(parts: Parts) -> str:
    own = parts.config.stage_proportions
    return "stage_proportions say it for every stage" if own else _of_products(parts)


def _of_steps(parts: Parts) -> str:
    held = products_of_table(parts.whole)
    return "" if held else "no matrix product shares its weights with an embedding"


def _of_input(parts: Parts) -> str:
    if parts.config.host_input != "bytes" or FROM_BYTES in parts.whole.ops.primitive:
        return ""
    return "no input is a picture or sound of floats"


def _of_loaders(parts: Parts) -> str:
    if parts.parallel.feed.on_device:
        return "inputs are made on the device"
    pixels = any(picture_pixels(each.graph, floats=floats) for each in parts.classes for floats in (True, False))
    return "" if pixels else "no input is a picture that a host would decode"


def _of_prefetch(parts: Parts) -> str:
    if parts.parallel.feed.on_device:
        return "inputs are made on the device"
    ahead = parts.parallel.feed.ahead > 1
    return "every batch takes as long, so that one that is ready ahead does as well" if ahead else ""


def _of_stages(parts: Parts) -> str:
    cuts = parts.config.splits
    return f"splits make {len(cuts) + 1} stages" if cuts and parts.config.stages == 1 else ""


def _of_run(parts: Parts) -> str:
    return "" if parts.config.samples is not None else "nobody says how many samples an epoch has"


def _of_evaluations(parts: Parts) -> str:
    return _of_run(parts) or ("" if parts.config.evaluation_samples else "nobody gives evaluation_samples")


def _of_sdk(parts: Parts) -> str:
    same = abs(parts.constants.age - 1) < SAME_AGE
    return "measurements show no difference between its versions beside everything else" if same else ""


REASONS: dict[str, Callable[[Parts], str]] = {
    **dict.fromkeys(OF_UPDATES, _of_update),
    "loss_scale": _of_scale,
    "offload": _of_state,
    "state_precision": _of_state,
    "recompute": _of_recompute,
    "checkpoints": _of_checkpoints,
    "shard_optimiser": _of_shares,
    "schedule": _of_schedule,
    "partials": _of_partials,
    "available_memory_proportion": _of_proportion,
    "embedding_steps": _of_steps,
    "host_input": _of_input,
    "loader_workers": _of_loaders,
    "prefetch_depth": _of_prefetch,
    "queue_depth": lambda parts: "batches queue in inference only" if parts.config.training else "",
    "stages": _of_stages,
    "epochs": _of_run,
    "evaluation_samples": _of_run,
    "evaluations": _of_evaluations,
    "sdk": _of_sdk,
}
