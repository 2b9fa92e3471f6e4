"""Between numpy and the device: the precision of a run on the way in, the declared types on the way out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.composites.float8 import FLOAT8, stored
from simulator.learning.step import device_dtype, weight_dtype
from simulator.program import Array, Program


def placed(values: Mapping[str, Array], precision: str) -> dict[str, Array]:
    """Arrays in the types they have on the device. Large integers wrap as they would there."""
    return {name: np.asarray(v).astype(device_dtype(np.asarray(v).dtype.name, precision)) for name, v in values.items()}


def placed_weights(program: Program, precision: str) -> dict[str, Array]:
    """The program's weights, read and in the types they have on the device."""
    loaded = program.load_weights()
    narrow = {n for n, spec in program.weights.items() if weight_dtype(spec, precision) == FLOAT8}
    wide = placed({n: w for n, w in loaded.items() if n not in narrow}, precision)
    return {**wide, **{n: stored(loaded[n]) for n in narrow}}


def declared(program: Program, outputs: Mapping[str, Any]) -> dict[str, Array]:
    """Outputs as numpy arrays of the types that the model declares."""
    return {spec.name: np.asarray(outputs[spec.name]).astype(spec.dtype) for spec in program.outputs}


class Digest:
    """SHA-256 over named arrays: names, types, shapes and bytes, in a fixed order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, values: Mapping[str, Array]) -> None:
        for name in sorted(values):
            array = np.ascontiguousarray(values[name])
            self._hash.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
            self._hash.update(array.tobytes())

    def hexadecimal(self) -> str:
        return self._hash.hexdigest()


def summary(values: Mapping[str, Array]) -> list[dict[str, Any]]:
    """Name, shape, dtype, mean, std, min and max of each array; None where there is no finite number."""
    rows = []
    for name, array in values.items():
        wide = np.asarray(array, np.float64)
        numbers: dict[str, Callable[[Array], Any]] = {"mean": np.mean, "std": np.std, "min": np.min, "max": np.max}
        figures = {key: _finite(function(wide)) if wide.size else None for key, function in numbers.items()}
        rows.append({"name": name, "shape": list(array.shape), "dtype": array.dtype.name, **figures})
    return rows


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
