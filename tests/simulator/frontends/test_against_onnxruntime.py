"""Inference agrees with onnxruntime on every shared model that it can run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load
from simulator.numerics.data import Noise
from tests.simulator.onnx_models import DIMS, SHARED, needs_shared, outputs_of

onnxruntime = pytest.importorskip("onnxruntime", reason="compares with onnxruntime, which is not installed")

# activations rounded to 8 bits: the last bit of a float can tip one of them over
COARSE = {"tashkeel-bilstm-int8": 1e-3}
LIGHT = "onnx-light-"  # full architectures whose weights are all one number
QUICK_LIGHT = {"onnx-light-squeezenet", "onnx-light-shufflenet"}
MODELS = sorted((SHARED / "models").glob("*.onnx")) if SHARED.is_dir() else []


def _marks(path: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if path.stem.startswith(LIGHT) and path.stem not in QUICK_LIGHT else []


def _with_random_weights(path: Path, folder: Path) -> Path:
    """The model with every filled weight drawn instead, so that outputs say something."""
    model = onnx.load(str(path))
    chance = np.random.default_rng(1)
    shapes = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = [int(s) for s in shapes[node.input[0]]]
        bound = (2 / max(1, int(np.prod(shape[1:])))) ** 0.5
        drawn = np.abs(chance.normal(0.5, 0.1, shape)) if len(shape) == 1 else chance.normal(0, bound, shape)
        model.graph.initializer.append(onnx.numpy_helper.from_array(drawn.astype(np.float32), node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    changed = folder / path.name
    onnx.save(model, str(changed))
    return changed


@needs_shared
@pytest.mark.parametrize("path", [pytest.param(p, marks=_marks(p), id=p.stem) for p in MODELS])
def test_outputs_agree(path: Path, tmp_path: Path) -> None:
    if path.stem.startswith(LIGHT):
        path = _with_random_weights(path, tmp_path)
    program = load(path, name=path.stem, batch=1, dims=DIMS.get(path.stem, {}))
    inputs = Noise(program, 5).batch(0).inputs
    if path.stem == "caustic-painn":  # whole numbers point into tables and lists of atoms of unlike lengths
        inputs = {name: value % 2 if value.dtype.kind == "i" else value for name, value in inputs.items()}
    if path.stem == "rxnmap":  # so do these, into tables of unlike lengths
        inputs |= {"neighbors": inputs["neighbors"] % 2, "roles": inputs["roles"] * 0}
    if path.stem == "silero-vad":  # the rate chooses the branch
        inputs |= {"sr": np.array(16_000, inputs["sr"].dtype)}
    if path.stem == "swift-f0":  # the two scalars bound the pitch in hertz
        inputs |= {"fmin": np.array(50, np.float32), "fmax": np.array(1000, np.float32)}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, inputs)
    found = outputs_of(program, inputs)
    for port, reference in zip(session.get_outputs(), expected, strict=True):
        assert found[port.name].shape == reference.shape
        scale = float(np.nanmax(np.abs(reference))) if reference.size else 1.0
        np.testing.assert_allclose(
            found[port.name], reference, rtol=1e-3, atol=COARSE.get(path.stem, 1e-4) * max(scale, 1e-3)
        )


@needs_shared
def test_a_fixed_batch_is_widened_where_every_sample_stays_its_own() -> None:
    path = SHARED / "models" / "onnx-light-squeezenet.onnx"
    program = load(path, name="squeezenet", batch=3)
    assert program.batch == 3
    assert program.outputs[0].shape[0] == 3
    assert [code for code, _ in program.notes] == ["model.batch_widened"]


@needs_shared
def test_a_fixed_batch_that_cannot_widen_is_refused_by_name() -> None:
    with pytest.raises(SimulatorError) as caught:
        load(SHARED / "models" / "attacut-sc.onnx", name="attacut", batch=4, dims={"seq_len": 12})
    assert caught.value.code == "config.batch_fixed"
    assert caught.value.params["batch"] == 1
