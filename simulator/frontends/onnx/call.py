"""What an operator's function is given besides its inputs: attributes, opset, mode, and how to ask for known values.

A value is *known* when it is a numpy array: a constant, a shape, or computed from those. Weights and inputs are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits
from simulator.frontends.onnx.plan import GraphPlan, NodePlan
from simulator.program import Mode


@dataclass
class Context:
    """One execution of a program: its mode, limits, the running statistics it updates, the weights it really reads.

    ``exact`` does what the file says to the letter: its types, its own training mode, its sequences and strings.
    """

    mode: Mode
    limits: Limits
    float_type: Any = None  # of every float of this run; None leaves the file's own types
    exact: bool = False
    trips: Mapping[str, int] = field(default_factory=dict)  # most trips of loops that do not say, by name
    rebatched: tuple[int, int] | None = None  # (batch the file was exported with, batch of this run)
    notes: dict[str, str] = field(default_factory=dict)  # message -> code, for the report
    updates: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)  # tensor name -> key among the weights
    used: set[str] = field(default_factory=set)

    def use(self, names: Sequence[str]) -> None:
        """Note that tensors of these names are read; those that are weights count as used."""
        self.used.update(self.keys[name] for name in names if name in self.keys)


Branch = Callable[[GraphPlan, Sequence[Any]], list[Any]]


class Call:
    """One node about to run."""

    def __init__(self, node: NodePlan, context: Context, branch: Branch) -> None:
        self.node = node
        self.context = context
        self._branch = branch

    @property
    def opset(self) -> int:
        return self.node.opset

    @property
    def training(self) -> bool:
        return self.context.mode.training

    def attr(self, name: str, default: Any = None) -> Any:
        return self.node.attributes.get(name, default)

    def required(self, name: str) -> Any:
        if name not in self.node.attributes:
            raise self.invalid(f"lacks attribute '{name}'")
        return self.node.attributes[name]

    def text(self, name: str, default: str) -> str:
        value = self.node.attributes.get(name, default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def known(self, value: Any, what: str) -> np.ndarray:
        """``value`` as a numpy array, or ``model.data_dependent`` when it depends on inputs."""
        found = decided(value)
        if found is not None:
            return found
        raise self.data_dependent(what)

    def data_dependent(self, what: str) -> SimulatorError:
        """The refusal when ``what`` would have to be known before the run."""
        return data_dependent(self.node, what)

    def needs_trips(self, name: str) -> SimulatorError:
        """The question how often a loop runs at most, asked as for an open dimension."""
        return SimulatorError(
            "model.needs_dims",
            f"Loop '{self.node.label}' does not say how often it runs. Give its largest number of trips "
            f"(for example --dim '{name}=16', or dims in the settings).",
            params={"dims": [name]},
        )

    def integers(self, value: Any, what: str) -> list[int]:
        return [int(v) for v in np.asarray(self.known(value, what)).reshape(-1)]

    def claim(self, shape: Sequence[int], itemsize: int = 4) -> tuple[int, ...]:
        """``shape`` if a tensor of it may exist, else ``model.too_large``; call before making one."""
        sizes = tuple(int(s) for s in shape)
        if any(s < 0 for s in sizes):
            raise self.invalid(f"would make a tensor of shape {list(sizes)[:8]}")
        needed = math.prod(sizes) * itemsize
        if needed > self.context.limits.tensor_bytes:
            raise SimulatorError(
                "model.too_large",
                f"Node '{self.node.label}' ({self.node.op.name}) makes a tensor of {needed} bytes; the limit is "
                f"{self.context.limits.tensor_bytes}. Use smaller dimensions.",
                params={"node": self.node.label, "bytes": needed, "limit": self.context.limits.tensor_bytes},
            )
        return sizes

    def scratch(self, elements: int) -> int:
        """``elements`` if a table of so many may be made while tracing, else ``model.too_large``."""
        most = self.context.limits.scratch_elements
        if elements > most:
            raise SimulatorError(
                "model.too_large",
                f"Node '{self.node.label}' ({self.node.op.name}) needs a table of {elements} entries; the limit is "
                f"{most}. Use smaller dimensions.",
                params={"node": self.node.label, "elements": elements, "limit": most},
            )
        return elements

    def space(self, shape: Sequence[int], *values: Any) -> Any:
        """numpy when every value is known and the result small enough to fold, else jax.numpy."""
        small = math.prod(int(s) for s in shape) <= self.context.limits.folded_elements
        return np if small and is_known(*values) else jnp

    def note(self, code: str, what: str) -> None:
        """Something that the report must say of this node."""
        self.context.notes[f"Node '{self.node.label}' ({self.node.op.name}) {what}."] = code

    def branch(self, name: str, *inputs: Any) -> list[Any]:
        """Outputs of the graph in attribute ``name``."""
        return self._branch(self.required(name), inputs)

    def as_if(self, attributes: Mapping[str, Any]) -> Call:
        """The same node with other attributes."""
        return Call(replace(self.node, attributes=attributes), self.context, self._branch)

    def update_weight(self, position: int, value: Any) -> None:
        """Record a new value of the weight that is input ``position`` (running statistics)."""
        key = self.context.keys.get(self.node.inputs[position])
        if key is not None:
            self.context.updates[key] = value

    def key(self) -> Any:
        """A random key of this node's own."""
        if self.context.mode.key is None:
            raise self.invalid("needs chance, which inference does not have")
        return jax.random.fold_in(self.context.mode.key, self.node.index)

    def invalid(self, what: str) -> SimulatorError:
        return SimulatorError(
            "model.invalid_node",
            f"Node '{self.node.label}' ({self.node.op.name}) {what}. Correct the model and export it again.",
            params={"node": self.node.label, "op": self.node.op.name},
        )


def data_dependent(node: NodePlan, what: str) -> SimulatorError:
    """The refusal when ``what`` of a node would have to be known before the run."""
    return SimulatorError(
        "model.data_dependent",
        f"Node '{node.label}' ({node.op.name}) needs its {what} before the run, but they come from the inputs. "
        "An IPU compiles for fixed shapes: export the model with fixed shapes.",
        params={"node": node.label, "op": node.op.name, "what": what},
    )


def decided(value: Any) -> np.ndarray | None:
    """``value`` as a numpy array where its numbers can be looked at now, else None (it is being traced)."""
    if is_known(value) or (isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)):
        return np.asarray(value)
    return None


def is_known(*values: Any) -> bool:
    """True when no value depends on weights or inputs."""
    return all(v is None or isinstance(v, np.ndarray | np.generic | int | float | bool) for v in values)


def xp(*values: Any) -> Any:
    """numpy when every value is known, else jax.numpy. For results no larger than their inputs."""
    return np if is_known(*values) else jnp
