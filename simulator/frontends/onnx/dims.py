"""Binds the dimensions that a model leaves open: the leading one to the batch, the others to what the user gives."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits
from simulator.frontends.onnx.tensors import dtype_name
from simulator.program import TensorSpec

NOT_BATCH = re.compile(r"seq|time|len|frame|sample|token|step|height|width|channel|feature", re.IGNORECASE)
NO_NAME = frozenset({"", "?", "-1", "None", "unk"})


@dataclass(frozen=True)
class Port:
    """An input or output as declared. ``shape`` is None when even the rank is open; a str names an open dimension.

    ``kind`` is "tensor", "sequence" or "optional"; only tensors have a place on a device.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...] | None
    kind: str = "tensor"

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype, "shape": None if self.shape is None else list(self.shape)}


def port_of(value: Any, limits: Limits, *, tensors_only: bool = True) -> Port:
    """Read a ValueInfoProto; an unnamed open dimension is called ``input[axis]``."""
    kind = value.type.WhichOneof("value")
    if kind in ("sequence_type", "optional_type") and not tensors_only:
        return Port(value.name, "", None, kind.removesuffix("_type"))
    if kind not in ("tensor_type", None):
        raise SimulatorError(
            "model.unsupported_type",
            f"'{value.name[:200]}' is not a tensor ({kind}). Export the model with tensor inputs and outputs only.",
            params={"where": value.name[:200], "type": str(kind)},
        )
    tensor = value.type.tensor_type
    where = f"'{value.name[:200]}'"
    dtype = dtype_name(tensor.elem_type, where, strings=not tensors_only) if tensor.elem_type else "float32"
    if not tensor.HasField("shape"):
        return Port(value.name, dtype, None)
    if len(tensor.shape.dim) > limits.rank:
        raise SimulatorError("model.too_large", f"'{value.name[:200]}' has more than {limits.rank} dimensions.")
    return Port(value.name, dtype, tuple(_size(d, value.name, i) for i, d in enumerate(tensor.shape.dim)))


def _size(dim: Any, name: str, axis: int) -> int | str:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    if dim.dim_param in NO_NAME or dim.dim_param.startswith("-"):
        return f"{name}[{axis}]"
    return str(dim.dim_param)


def batch_names(inputs: list[Port]) -> set[str]:
    """Open leading dimensions, except those whose name says that they are something else."""
    leading = {port.shape[0] for port in inputs if port.shape}
    return {name for name in leading if isinstance(name, str) and not NOT_BATCH.search(name.split("[")[-1])}


def open_dims(inputs: list[Port]) -> list[str]:
    """Names that only the user can bind, in order of appearance."""
    batch = batch_names(inputs)
    names = [d for port in inputs for d in port.shape or () if isinstance(d, str) and d not in batch]
    return list(dict.fromkeys(names))


def bind(inputs: list[Port], dims: Mapping[str, int], batch: int, limits: Limits) -> tuple[TensorSpec, ...]:
    """Every input with whole shapes. Raises ``model.needs_dims`` naming what is missing, ``model.too_large``."""
    shapeless = [port.name for port in inputs if port.shape is None]
    if shapeless:
        raise SimulatorError(
            "model.needs_shapes",
            f"The model does not say the shape of {', '.join(n[:100] for n in shapeless[:10])}. An IPU compiles for "
            "fixed shapes: export the model with input shapes.",
            params={"inputs": [n[:100] for n in shapeless[:100]]},
        )
    named = batch_names(inputs) | set(open_dims(inputs))
    unknown = [name for name in dims if name not in named]
    if unknown:
        legal = ", ".join(sorted(n[:100] for n in named)[:20]) or "none: every dimension of this model is fixed"
        raise SimulatorError(
            "config.invalid",
            f"The model has no open dimension '{unknown[0][:100]}'. Its open dimensions: {legal}.",
            params={"field": "dims", "legal": legal},
        )
    sizes = {**dict.fromkeys(batch_names(inputs), batch), **dims}
    missing = [name for name in open_dims(inputs) if name not in sizes]
    if missing:
        raise SimulatorError(
            "model.needs_dims",
            f"Give a size for {', '.join(n[:100] for n in missing[:20])}: an IPU compiles for fixed shapes "
            f"(for example --dim {missing[0][:100]}=64, or dims in the settings).",
            params={"dims": [n[:100] for n in missing[:100]]},
        )
    return tuple(_bound(port, sizes, limits) for port in inputs)


def _bound(port: Port, sizes: Mapping[str, int], limits: Limits) -> TensorSpec:
    shape = tuple(sizes[d] if isinstance(d, str) else d for d in port.shape or ())
    if 0 in shape:
        raise SimulatorError(
            "model.zero_dim",
            f"Input '{port.name[:200]}' has shape {list(shape)}: with a dimension of 0 there is nothing to compute. "
            "Export the model with a positive or an open dimension.",
            params={"input": port.name[:200], "shape": list(shape)},
        )
    needed = math.prod(shape) * np.dtype(port.dtype).itemsize
    if needed > limits.tensor_bytes or any(d > 2**31 - 1 for d in shape):
        raise SimulatorError(
            "model.too_large",
            f"Input '{port.name[:200]}' would need {needed} bytes; the limit is {limits.tensor_bytes}. Use less.",
            params={"input": port.name[:200], "bytes": needed, "limit": limits.tensor_bytes},
        )
    return TensorSpec(port.name, shape, port.dtype)
