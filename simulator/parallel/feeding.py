"""How inputs reach the IPUs: in which form, from how many hosts and processes, how far ahead. It knows no times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from simulator.config import RunConfig
from simulator.frameworks.catalogue import framework
from simulator.graph.edit import ELEMENTWISE, Columns, Row, elementwise, put_together, rows_of
from simulator.graph.graph import Graph, Pass, Role
from simulator.machines.catalogue import System

LEAST_RANK = 3  # of what is taken for pictures or sound: samples x something x something
PICTURE_RANK = 4  # samples x colours x rows x columns; crops of a sample are one dimension more
COLOURS = (1, 3, 4)
FROM_BYTES = "from_bytes"  # the cast that the device does


@dataclass(frozen=True)
class Feed:
    """``hosts`` feed the slice, with ``workers`` processes each that prepare samples; 0: they come prepared.

    ``ahead``: batches that are ready before they are asked for; 0: the IPUs wait for each. ``call_seconds`` of work of
    the framework at every call of the host, ``weight_seconds`` to write the optimiser's settings of one weight.
    ``on_device``: inputs are made by the IPUs.
    """

    hosts: int = 1
    workers: int = 0
    ahead: int = 1
    call_seconds: float = 0.0
    weight_seconds: float = 0.0
    on_device: bool = False


def feed_of(config: RunConfig, system: System, ipus: int) -> Feed:
    """The feed of a slice. Inputs come prepared unless somebody says how many processes prepare them."""
    hosts = config.hosts or system.hosts_for(ipus)
    used = framework(config.framework)
    return Feed(
        hosts=hosts,
        workers=config.loader_workers or 0,
        ahead=config.prefetch_depth,
        call_seconds=used.host_call,
        weight_seconds=used.host_weight if config.training else 0.0,
        on_device=config.host_input == "device",
    )


def as_bytes(graph: Graph) -> Graph:
    """``graph`` with inputs of pictures as bytes, which the device casts first."""
    rows, tensors = rows_of(graph), Columns(graph.tensors)
    casts: list[Row] = []
    for tensor in range(len(graph.tensors)):
        if _is_dense(graph, tensor):
            elements = prod(tensors.shape[tensor])
            given = tensors.add(elements, Role.INPUT, tensors.shape[tensor], "uint8", name=tensors.name[tensor])
            tensors.role[tensor] = Role.ACTIVATION
            tensors.name[tensor] = ""
            attributes = elementwise("convert_element_type", elements, 1)
            inputs, outputs = (given,), (tensor,)
            casts.append(Row(ELEMENTWISE, int(Pass.FORWARD), 1, "", FROM_BYTES, attributes, inputs, outputs))
    return put_together(replace(graph), [*casts, *rows], tensors).graph if casts else graph


def _is_dense(graph: Graph, tensor: int) -> bool:
    """An input of floats with room for more than a row of numbers a sample."""
    tensors = graph.tensors
    shaped = len(tensors.shape[tensor]) >= LEAST_RANK and "float" in tensors.dtype[tensor]
    return tensors.role[tensor] == Role.INPUT and tensors.alias_of[tensor] < 0 and shaped


def picture_pixels(graph: Graph, *, floats: bool) -> int:
    """Pixels that the host decodes for one micro-batch, of pictures that it hands over as floats or as bytes.

    Every crop of a sample counts. 0 when no input looks like a picture.
    """
    tensors, found = graph.tensors, 0
    for tensor in np.flatnonzero((tensors.role == Role.INPUT) & (tensors.alias_of < 0)).tolist():
        if ("float" in tensors.dtype[tensor]) == floats:
            found += pixels_of(tensors.shape[tensor])
    return found


def pixels_of(shape: tuple[int, ...]) -> int:
    """Of an input of ``shape`` with its colours before or after rows and columns; 0 when it is none of pictures."""
    pictures, picture = prod(shape[:-3]), shape[-3:]
    if not PICTURE_RANK <= len(shape) <= PICTURE_RANK + 1:
        return 0
    if picture[0] in COLOURS:
        return pictures * picture[1] * picture[2]
    return pictures * picture[0] * picture[1] if picture[2] in COLOURS else 0
