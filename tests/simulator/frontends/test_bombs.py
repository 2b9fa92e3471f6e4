"""Small files that ask for much while shapes are worked out: each is answered without the memory that it asks for."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from simulator import SimulatorError, inspect
from tests.simulator.onnx_models import model, node, value

HUGE = 1 << 20
MOST_BYTES = 500 << 20


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _doubling() -> bytes:
    """A constant joined to itself forty times."""
    nodes = [node("Concat", [f"c{i}", f"c{i}"], [f"c{i + 1}"], axis=0) for i in range(40)]
    nodes.append(node("Reshape", ["x", "c40"], ["y"]))
    return model(nodes, [value("x", ["N", 4])], [value("y", ["N"])], {"c0": _ints(1, 1)})


def _resize(mode: str) -> bytes:
    nodes = [node("Resize", ["x", "", "", "sizes"], ["y"], mode=mode)]
    sizes = {"sizes": _ints(1, 1, 8 * HUGE, 64)}
    return model(nodes, [value("x", [1, 1, 8, 64])], [value("y", [1, 1, 8 * HUGE, 64])], sizes)


def _pool() -> bytes:
    nodes = [node("AveragePool", ["x"], ["y"], kernel_shape=[HUGE], pads=[HUGE // 2, HUGE // 2])]
    return model(nodes, [value("x", [1, 1, 64 * HUGE])], [value("y", [1, 1, None])])


def _split() -> bytes:
    nodes = [node("Split", ["x"], ["y"], axis=0, num_outputs=1 << 40)]
    return model(nodes, [value("x", [4, 4])], [value("y", [4, 4])], opset=18)


def _broadcast() -> bytes:
    """Two known vectors multiplied into a matrix of 10^12."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("ConstantOfShape", ["n"], ["a"]),
        node("Unsqueeze", ["a", "one"], ["b"]),
        node("Mul", ["a", "b"], ["c"]),
        node("ReduceSum", ["c"], ["d"]),
        node("Add", ["x", "d"], ["y"]),
    ]
    fixed = {"n": _ints(10**6), "one": _ints(1)}
    return model(nodes, [value("x", [1, 1])], [value("y", [1, 1])], fixed)


def _gather() -> bytes:
    """A constant of a million rows of a million."""
    nodes = [node("Gather", ["table", "rows"], ["g"]), node("ReduceSum", ["g"], ["s"]), node("Add", ["x", "s"], ["y"])]
    fixed = {"table": np.zeros((1, 60_000), np.int64), "rows": np.zeros(60_000, np.int64)}
    return model(nodes, [value("x", [1, 1])], [value("y", [1, 1])], fixed)


LEGAL = {"resize_nearest", "gather"}  # large, but within what a run may be asked for
BOMBS = {
    "doubling": _doubling,
    "resize_nearest": lambda: _resize("nearest"),
    "resize_linear": lambda: _resize("linear"),
    "pool": _pool,
    "split": _split,
    "broadcast": _broadcast,
    "gather": _gather,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", BOMBS)
def test_bombs_do_not_go_off(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.onnx"
    path.write_bytes(BOMBS[name]())
    tracemalloc.start()
    try:
        if name in LEGAL:
            inspect(path)
        else:
            with pytest.raises(SimulatorError) as caught:
                inspect(path)
            assert caught.value.owner == "user"
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
