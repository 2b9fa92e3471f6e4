"""Which opsets are read, and what the ONNX schemas say of a node: arity and attribute types."""

from __future__ import annotations

from typing import Any

import onnx

from simulator.errors import SimulatorError

OLDEST = 1
NEWEST = onnx.defs.onnx_opset_version()


def opsets_of(model: Any) -> dict[str, int]:
    """Domain to version, "" for ai.onnx. Raises ``model.opset``."""
    versions: dict[str, int] = {}
    for entry in model.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        versions[domain] = entry.version
    default = versions.get("")
    if default is None and any(not node.domain or node.domain == "ai.onnx" for node in model.graph.node):
        raise _refused("The model does not say its opset", None)
    if default is not None and not OLDEST <= default <= NEWEST:
        raise _refused(f"The model uses opset {default}", default)
    return versions


def _refused(what: str, found: int | None) -> SimulatorError:
    return SimulatorError(
        "model.opset",
        f"{what}; opsets {OLDEST} to {NEWEST} are read. "
        "Convert it with onnx.version_converter.convert_version(model, 17).",
        params={"found": found, "oldest": OLDEST, "newest": NEWEST},
    )


def check_schema(node: Any, label: str, version: int) -> None:
    """Raise ``model.invalid_node`` when arity or attributes break the schema; silent for unknown operators."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        schema = onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError:
        return
    given = len(node.input)
    if not schema.min_input <= given <= schema.max_input:
        raise _invalid(node, label, f"has {given} inputs; it takes {_span(schema.min_input, schema.max_input)}")
    for position, name in enumerate(node.input):
        formal = schema.inputs[min(position, len(schema.inputs) - 1)]
        if not name and formal.option != onnx.defs.OpSchema.FormalParameterOption.Optional:
            raise _invalid(node, label, f"leaves out its input '{formal.name}'")
    if not schema.min_output <= len(node.output) <= schema.max_output:
        span = _span(schema.min_output, schema.max_output)
        raise _invalid(node, label, f"has {len(node.output)} outputs; it gives {span}")
    _check_attributes(node, label, schema)


def _span(least: int, most: int) -> str:
    if least == most:
        return str(least)
    return f"{least} or more" if most > 1 << 20 else f"{least} to {most}"


def _check_attributes(node: Any, label: str, schema: Any) -> None:
    seen = set()
    for attribute in node.attribute:
        if attribute.name in seen:
            raise _invalid(node, label, f"gives attribute '{attribute.name[:100]}' twice")
        seen.add(attribute.name)
        if attribute.name not in schema.attributes:
            raise _invalid(node, label, f"has an attribute '{attribute.name[:100]}', which this operator does not have")
        wanted = schema.attributes[attribute.name].type
        if int(wanted.value) != int(attribute.type):
            kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
            raise _invalid(node, label, f"has attribute '{attribute.name}' of type {kind}; it must be {wanted.name}")
    for name, wanted in schema.attributes.items():
        if wanted.required and name not in seen:
            raise _invalid(node, label, f"lacks attribute '{name}'")


def _invalid(node: Any, label: str, what: str) -> SimulatorError:
    return SimulatorError(
        "model.invalid_node",
        f"Node '{label}' ({node.op_type[:100]}) {what}. Correct the model and export it again.",
        params={"node": label, "op": node.op_type[:100]},
    )
