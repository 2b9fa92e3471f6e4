"""Tensors of an ONNX file: checked against their claimed size before a byte is allocated, then read as numpy arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits
from simulator.frontends.onnx.external import Folder, check_external, is_external, read_external

# bits an element; strings have no size
BITS: dict[int, int] = {
    TensorProto.FLOAT: 32, TensorProto.UINT8: 8, TensorProto.INT8: 8, TensorProto.UINT16: 16, TensorProto.INT16: 16,
    TensorProto.INT32: 32, TensorProto.INT64: 64, TensorProto.BOOL: 8, TensorProto.FLOAT16: 16, TensorProto.DOUBLE: 64,
    TensorProto.UINT32: 32, TensorProto.UINT64: 64, TensorProto.BFLOAT16: 16, TensorProto.FLOAT8E4M3FN: 8,
    TensorProto.FLOAT8E4M3FNUZ: 8, TensorProto.FLOAT8E5M2: 8, TensorProto.FLOAT8E5M2FNUZ: 8, TensorProto.FLOAT8E8M0: 8,
    TensorProto.FLOAT4E2M1: 4, TensorProto.INT4: 4, TensorProto.UINT4: 4, TensorProto.INT2: 2, TensorProto.UINT2: 2,
}  # fmt: skip
TYPED_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")


STRING = "string"


def dtype_name(code: int, where: str, *, strings: bool = False) -> str:
    """numpy name of an ONNX element type ("string" where asked for), or ``model.unsupported_type``."""
    if strings and code == TensorProto.STRING:
        return STRING
    if code not in BITS:
        name = TensorProto.DataType.Name(code) if code in TensorProto.DataType.values() else str(code)
        raise SimulatorError(
            "model.unsupported_type",
            f"{where} has elements of type {name}, which is not supported. Convert it to float32 or an integer type.",
            params={"where": where[:200], "type": name},
        )
    return str(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(code)).name)


def check_tensor(tensor: Any, limits: Limits, folder: Folder | None = None) -> None:
    """Raise ``model.*`` unless the tensor is of a known type and exactly as long as its dimensions say, here or in a
    file of ``folder``."""
    where = f"Tensor '{tensor.name[:200]}'"
    if tensor.data_type == TensorProto.STRING:
        dims = list(tensor.dims)
        if math.prod(dims) > limits.folded_elements or any(d < 0 for d in dims):
            raise _bad(where, "claims more strings than are read")
        return
    dtype_name(tensor.data_type, where)
    expected = _expected_bytes(tensor, where, limits)
    if is_external(tensor):
        check_external(tensor, where, expected, folder)
        return
    fields = [name for name in TYPED_FIELDS if len(getattr(tensor, name))]
    if tensor.HasField("raw_data") and fields:
        raise _bad(where, f"holds its data twice (raw_data and {fields[0]})")
    if len(fields) > 1:
        raise _bad(where, f"holds its data twice ({' and '.join(fields)})")
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != expected:
            raise _bad(where, f"has {len(tensor.raw_data)} bytes of data where its dimensions need {expected}")
    else:
        _check_typed(tensor, where, fields)


def _expected_bytes(tensor: Any, where: str, limits: Limits) -> int:
    dims = list(tensor.dims)
    if len(dims) > limits.rank or any(d < 0 for d in dims):
        raise _bad(where, f"has impossible dimensions {dims[:8]}")
    expected = _bytes_of(tensor)
    if expected > limits.tensor_bytes:
        raise SimulatorError(
            "model.too_large",
            f"{where} claims {expected} bytes; the limit for one tensor is {limits.tensor_bytes}. Use a smaller model.",
            params={"tensor": tensor.name[:200], "bytes": expected, "limit": limits.tensor_bytes},
        )
    return expected


def _bytes_of(tensor: Any) -> int:
    return (math.prod(tensor.dims) * BITS[tensor.data_type] + 7) // 8


def _check_typed(tensor: Any, where: str, fields: list[str]) -> None:
    packed = BITS[tensor.data_type] < 8  # several elements in each number
    count = math.prod(tensor.dims)
    if packed:
        count = -(-count * BITS[tensor.data_type] // 8)
    held = len(getattr(tensor, fields[0])) if fields else 0
    if held != count:
        raise _bad(where, f"has {held} elements where its dimensions need {count}")


def _bad(where: str, what: str) -> SimulatorError:
    return SimulatorError(
        "model.bad_tensor", f"{where} {what}. The file is damaged; export it again.", params={"tensor": where[8:208]}
    )


def to_numpy(tensor: Any, folder: Folder | None = None) -> np.ndarray:
    """The array of a checked tensor; strings as an object array."""
    if is_external(tensor):
        inside = TensorProto(data_type=tensor.data_type, dims=tensor.dims)
        inside.raw_data = read_external(tensor, _bytes_of(tensor), folder)
        tensor = inside
    return np.asarray(numpy_helper.to_array(tensor))
