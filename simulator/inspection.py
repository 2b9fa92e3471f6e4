"""Says what an uploaded file is and whether it will run: a summary, or a refusal that says what to do. It runs none."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.limits import DEFAULT_LIMITS, Limits
from simulator.frontends.onnx.dims import batch_names, open_dims
from simulator.frontends.onnx.importer import Checked, bind_program, read
from simulator.frontends.onnx.planning import plan_model, unsupported
from simulator.frontends.onnx.registry import find
from simulator.frontends.onnx.static import all_nodes
from simulator.frontends.onnx.tensors import BITS
from simulator.program import Program

POPART_OPSET = 11  # docs/popart/supported_ops.rst of PopART: the newest opset that it reads
FEW_NODES = 5
NAME_LENGTH = 200


@dataclass(frozen=True)
class Inspection:
    """What is known of a model before any run. ``symbolic_dims`` are the sizes that a user must give; ``batch_dims``
    follow the batch; ``batch`` is the fixed batch of a model that has one. Names are at most 200 characters."""

    name: str
    format: str
    ir_version: int
    opset: dict[str, int]
    producer: str
    parameters: int
    parameter_bytes: int
    nodes: int
    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    operators: list[dict[str, Any]]
    unsupported: list[dict[str, Any]]
    symbolic_dims: list[str]
    batch_dims: list[str]
    batch: int | None
    trainable: bool
    warnings: list[dict[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able summary."""
        return asdict(self)


def inspect(path: str | Path, *, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Inspection:
    """Inspect an uploaded file as hostile input. Raises SimulatorError ``model.*`` with what to do next."""
    path = Path(path)
    checked = read(path, limits)
    _refuse_shapeless(checked)
    missing = _missing(checked)
    asked = open_dims(checked.inputs)
    program = None
    if not missing and not asked:
        program, trips = _bound(checked, name or path.name, limits)
        asked += trips
    parameters, size, trainable = _weights(checked, program, bool(missing), limits)
    operators = _operators(checked)
    model = checked.model
    return Inspection(
        name=(name or path.name)[:NAME_LENGTH],
        format="onnx",
        ir_version=int(model.ir_version),
        opset={(domain or "ai.onnx")[:NAME_LENGTH]: version for domain, version in checked.opsets.items()},
        producer=f"{model.producer_name} {model.producer_version}".strip()[:NAME_LENGTH],
        parameters=parameters,
        parameter_bytes=size,
        nodes=sum(row["count"] for row in operators),
        inputs=[_cut(port.to_dict()) for port in checked.inputs],
        outputs=[_cut(port.to_dict()) for port in checked.outputs],
        operators=operators,
        unsupported=missing,
        symbolic_dims=[d[:NAME_LENGTH] for d in asked],
        batch_dims=[d[:NAME_LENGTH] for d in sorted(batch_names(checked.inputs))],
        batch=None if batch_names(checked.inputs) else _exported_batch(checked),
        trainable=trainable,
        warnings=_warnings(checked, program, asked, missing),
    )


def _bound(checked: Checked, name: str, limits: Limits) -> tuple[Program | None, list[str]]:
    """The program, or which loops do not say how often they run."""
    try:
        batch = _exported_batch(checked)
        return bind_program(checked, name=name, batch=batch, dims={}, limits=limits, recognising=True), []
    except SimulatorError as error:
        if error.code != "model.needs_dims":
            raise
        return None, [str(dim) for dim in error.params["dims"]]


def _cut(port: dict[str, Any]) -> dict[str, Any]:
    shape = port["shape"]
    cut = None if shape is None else [d[:NAME_LENGTH] if isinstance(d, str) else d for d in shape]
    return {"name": port["name"][:NAME_LENGTH], "dtype": port["dtype"], "shape": cut}


def _refuse_shapeless(checked: Checked) -> None:
    shapeless = [port.name[:NAME_LENGTH] for port in checked.inputs if port.shape is None]
    if shapeless:
        raise SimulatorError(
            "model.needs_shapes",
            f"The model does not say the shape of {', '.join(shapeless[:10])}. An IPU compiles for fixed shapes: "
            "export the model with input shapes.",
            params={"inputs": shapeless[:100]},
        )


def _exported_batch(checked: Checked) -> int:
    """The leading dimension that all inputs agree on, else 1."""
    sizes = {port.shape[0] for port in checked.inputs if port.shape and isinstance(port.shape[0], int)}
    return int(sizes.pop()) if len(sizes) == 1 and not batch_names(checked.inputs) else 1


def _operators(checked: Checked) -> list[dict[str, Any]]:
    counts = Counter((node.domain, node.op_type) for node in all_nodes(checked.model.graph))
    rows = [
        {
            "op": op[:NAME_LENGTH],
            "domain": (domain or "ai.onnx")[:NAME_LENGTH],
            "count": count,
            "supported": op == "Constant" or find(domain, op) is not None,
        }
        for (domain, op), count in counts.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["domain"], row["op"]))


def _missing(checked: Checked) -> list[dict[str, Any]]:
    return [
        {
            "op": op[:NAME_LENGTH],
            "domain": (domain or "ai.onnx")[:NAME_LENGTH],
            "count": len(labels),
            "nodes": labels[:FEW_NODES],
        }
        for (domain, op), labels in sorted(unsupported(checked.model.graph).items())
    ]


def _weights(checked: Checked, program: Program | None, missing: bool, limits: Limits) -> tuple[int, int, bool]:
    """Parameters, their bytes, and whether training is possible as far as can be told."""
    if missing:
        tensors = [(math.prod(t.dims), BITS.get(t.data_type, 8)) for t in checked.model.graph.initializer]
        return sum(n for n, _ in tensors), sum(n * bits // 8 for n, bits in tensors), False
    if program is None:
        held = plan_model(checked.model, checked.opsets, limits, checked.folder).weights
    else:
        held = program.weights
    parameters = sum(spec.elements for spec in held.values())
    size = sum(spec.elements * _itemsize(spec.dtype) for spec in held.values())
    some = any(spec.trainable for spec in held.values())
    floats = any(port.dtype.startswith("float") for port in checked.outputs)
    return parameters, size, some and (floats if program is None else program.objective is not None)


def _itemsize(dtype: str) -> int:
    return int(np.dtype(dtype).itemsize)


def _warnings(
    checked: Checked, program: Program | None, asked: list[str], missing: list[dict[str, Any]]
) -> list[dict[str, str]]:
    found: list[tuple[str, str]] = []
    if asked:
        names = ", ".join(d[:60] for d in asked[:20])
        found.append(("model.needs_dims", f"Give a size for {names} before a run: an IPU compiles for fixed shapes."))
    if missing:
        names = ", ".join(row["op"][:60] for row in missing[:20])
        found.append(("model.unsupported_operators", f"This model will not run: {names} are not supported."))
    if program is not None:
        found += _wrong_outputs(checked, program)
    if checked.opsets.get("", 0) > POPART_OPSET:
        version = checked.opsets[""]
        found.append(
            ("model.newer_than_popart", f"Opset {version}: Graphcore's own PopART reads opsets up to {POPART_OPSET}.")
        )
    wide = sorted({p.dtype for p in (*checked.inputs, *checked.outputs)} & {"int64", "uint64", "float64"})
    if wide:
        found.append(("model.narrowed", f"{', '.join(wide)} values are computed in 32 bits, as on an IPU."))
    return [{"code": code, "message": message} for code, message in found]


def _wrong_outputs(checked: Checked, program: Program) -> list[tuple[str, str]]:
    """Declared output shapes that the model does not keep to."""
    found = []
    for port, spec in zip(checked.outputs, program.outputs, strict=True):
        wrong = port.shape is not None and (
            len(port.shape) != len(spec.shape)
            or any(isinstance(d, int) and d != s for d, s in zip(port.shape, spec.shape, strict=False))
        )
        if wrong:
            message = (
                f"Output '{port.name[:NAME_LENGTH]}' is declared as {list(port.shape or ())} but is "
                f"{list(spec.shape)}; the real shape is used."
            )
            found.append(("model.output_shape_differs", message))
    return found
