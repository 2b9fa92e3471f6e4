"""Reads a jaxpr into rows: inlines calls, flattens loops to repeats, keeps composites whole, makes views aliases."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jax.extend.core as jex
import numpy as np

from simulator.composites.catalogue import COMPOSITES
from simulator.graph.builder import GraphBuilder
from simulator.graph.classify import REDUCTIONS, VIEWS, Aval, Described, describe, elementwise, fallback
from simulator.graph.graph import Kind, Pass, Role
from simulator.learning.step import LOSS_SCOPE, UPDATE_SCOPE

CALLS = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "checkpoint", "remat2"}
)
NODE = re.compile(r"node(\d+)")
# negative indices counted from the end: an IPU reads indices as they are; the scale of an 8-bit product costs nothing
FREE_CALLS = frozenset({"wrapped_index", "rescaled"})
KEY_BYTES = 8


def aval_of(var: Any) -> Aval:
    """Shape, dtype name and bytes of an element of a jaxpr variable; a random key counts as two words."""
    aval = var.aval
    dtype = getattr(aval, "dtype", None)
    if dtype is None or not isinstance(dtype, np.dtype):
        return Aval(tuple(getattr(aval, "shape", ())), "uint32", KEY_BYTES)
    return Aval(aval.shape, *_type(dtype))


@cache
def _type(dtype: np.dtype[Any]) -> tuple[str, int]:
    return dtype.name, max(1, dtype.itemsize)


class Walk:
    """One pass over a jaxpr. ``sources`` label the model's nodes, ``updated`` the weights in order of the update."""

    def __init__(self, sources: tuple[str, ...], updated: tuple[str, ...]) -> None:
        self.builder = GraphBuilder()
        self._sources = sources
        self._updated = updated
        self._known: dict[Any, int] = {}
        self._wanted: dict[Any, tuple[Role, str, int]] = {}

    def given(self, var: Any, role: Role, name: str) -> int:
        """Declare a variable that exists before the step."""
        tensor = self.builder.tensor(aval_of(var), role, name=name)
        self._known[var] = tensor
        return tensor

    def want(self, var: Any, role: Role, name: str, in_place: int) -> None:
        """Say what a result is for, and the tensor it overwrites (-1: none)."""
        if not isinstance(var, jex.Literal):
            self._wanted.setdefault(var, (role, name, in_place))

    def read(self, var: Any) -> int:
        """The tensor of a variable; literals become constants."""
        if isinstance(var, jex.Literal):
            return self.builder.tensor(aval_of(var), Role.CONSTANT)
        return self._known[var]

    def finish(self, results: list[int]) -> None:
        """Mark what leaves the device although a view or another tensor holds it."""
        for tensor in results:
            root = self.builder.root(tensor)
            if self.builder.role[tensor] == Role.OUTPUT and self.builder.role[root] == Role.ACTIVATION:
                self.builder.role[root] = Role.OUTPUT

    def equations(self, jaxpr: Any, scope: str = "", repeats: int = 1) -> None:
        """Add every equation of ``jaxpr``, which runs ``repeats`` times under ``scope``."""
        for equation in jaxpr.eqns:
            inner = f"{scope}/{equation.source_info.name_stack}"
            name = equation.primitive.name
            if name in CALLS:
                self._call(equation, inner, repeats)
            elif name == "scan":
                self._scan(equation, inner, repeats)
            elif name == "cond":
                branch = max(equation.params["branches"], key=lambda b: len(b.jaxpr.eqns))
                self._inline(branch, equation.invars[1:], equation.outvars, inner, repeats)
            elif name in VIEWS or self._is_free(equation):
                self._view(equation)
            else:
                described = self._describe(equation, name)
                self._operator(equation, described, name, inner, repeats)

    def _call(self, equation: Any, scope: str, repeats: int) -> None:
        name = str(equation.params.get("name", ""))
        if name in FREE_CALLS:
            self._view(equation)
            return
        if name in COMPOSITES:
            composite = COMPOSITES[name]
            attributes = composite.describe([aval_of(v).shape for v in equation.invars])
            self._operator(equation, Described(Kind[composite.kind], attributes), name, scope, repeats)
            return
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        self._inline(inner, equation.invars, equation.outvars, scope, repeats)

    def _inline(self, inner: Any, invars: Any, outvars: Any, scope: str, repeats: int) -> None:
        body = getattr(inner, "jaxpr", inner)
        for var in body.constvars:
            self.given(var, Role.CONSTANT, "")
        for outer, var in zip(invars, body.invars, strict=True):
            self._known[var] = self.read(outer)
        results = [var for var in body.outvars if not isinstance(var, jex.Literal)]
        for var in results:  # a function that is called again wants other things of the same variables
            self._wanted.pop(var, None)
        for outer, var in zip(outvars, body.outvars, strict=True):
            if outer in self._wanted and not isinstance(var, jex.Literal):
                self._wanted.setdefault(var, self._wanted[outer])
        self.equations(body, scope, repeats)
        for outer, var in zip(outvars, body.outvars, strict=True):
            self._known[outer] = self.read(var)

    def _scan(self, equation: Any, scope: str, repeats: int) -> None:
        """The body once with its repeats multiplied: carries alias the start, slices alias the stack they come from.

        As PopART's loops do, each trip counts itself in a superstep of its own, and what it computes anew of the
        carried values is copied back to where the next trip reads it.
        """
        params, body = equation.params, equation.params["jaxpr"].jaxpr
        length, fixed = int(params["length"]), int(params["num_consts"])
        carried = int(params["num_carry"])
        for index, (outer, var) in enumerate(zip(equation.invars, body.invars, strict=True)):
            tensor = self.read(outer)
            sliced = index >= fixed + carried
            self._known[var] = self._alias(aval_of(var), tensor) if sliced else tensor
        for var in body.constvars:
            self.given(var, Role.CONSTANT, "")
        self.equations(body, scope, repeats * max(1, length))
        if length > 1:
            self._count_trip(scope, repeats * length)
        for index, (outer, var) in enumerate(zip(equation.outvars, body.outvars, strict=True)):
            if index < carried:
                start = self.read(equation.invars[fixed + index])
                self._known[outer] = self._carried(outer, self.read(var), start, scope, repeats * length)
            else:
                self._stack(outer, self.read(var), scope, repeats)

    def _count_trip(self, scope: str, repeats: int) -> None:
        pass_, source = self._whose("trip", scope)
        count = Aval((), "int32", 4)
        tensor = self.builder.tensor(count, Role.ACTIVATION)
        described = elementwise("add", [count], [count])
        self.builder.operator(
            described, "trip", pass_=pass_, source=source, inputs=(), outputs=(tensor,), repeats=repeats
        )

    def _carried(self, outer: Any, ends: int, start: int, scope: str, repeats: int) -> int:
        """The tensor that a carried value ends in; one that the body only passes on is not copied."""
        if repeats <= 1 or self.builder.root(ends) == self.builder.root(start):
            return ends
        return self._moved("carry", outer, ends, scope, repeats)

    def _stack(self, outer: Any, piece: int, scope: str, repeats: int) -> None:
        """All pieces of one loop written into their stack."""
        self._moved("stack", outer, piece, scope, repeats)

    def _moved(self, op: str, outer: Any, read: int, scope: str, repeats: int) -> int:
        """The tensor of ``outer``, into which each trip of a loop copies ``read``."""
        aval = aval_of(outer)
        pass_, source = self._whose(op, scope)
        described = Described(Kind.MOVEMENT, {"op": op, "bytes": aval.elements * aval.itemsize})
        tensor = self._new(outer, pass_)
        self.builder.operator(
            described, op, pass_=pass_, source=source, inputs=(read,), outputs=(tensor,), repeats=repeats
        )
        return tensor

    def _is_free(self, equation: Any) -> bool:
        """A sum of one, a cast to the same type, a transpose that moves nothing or what a matrix unit wrote."""
        name = equation.primitive.name
        if name in REDUCTIONS and not name.startswith("arg"):
            return aval_of(equation.invars[0]).elements == aval_of(equation.outvars[0]).elements
        if name == "convert_element_type":
            return bool(aval_of(equation.invars[0]).dtype == aval_of(equation.outvars[0]).dtype)
        if name != "transpose" or isinstance(equation.invars[0], jex.Literal):
            return False
        shape, order = aval_of(equation.invars[0]).shape, equation.params["permutation"]
        if [d for d in order if shape[d] > 1] == [d for d, size in enumerate(shape) if size > 1]:
            return True  # only dimensions of one element move
        producer = self.builder.producer.get(self.builder.root(self.read(equation.invars[0])))
        return producer is not None and self.builder.kind[producer] in (Kind.MATMUL, Kind.CONV)

    def _view(self, equation: Any) -> None:
        source = self.read(equation.invars[0])
        for var in equation.outvars:
            tensor = self._alias(aval_of(var), source)
            self._known[var] = tensor
            if var in self._wanted:
                role, self.builder.name[tensor], in_place = self._wanted[var]
                self.builder.role[tensor] = role
                root = self.builder.root(source)
                if 0 <= in_place < root and root in self.builder.producer:
                    self.builder.role[root], self.builder.alias_of[root] = role, in_place

    def _alias(self, aval: Aval, of: int) -> int:
        return self.builder.tensor(aval, self.builder.role[of], alias_of=of)

    def _describe(self, equation: Any, name: str) -> Described:
        inputs, outputs = [aval_of(v) for v in equation.invars], [aval_of(v) for v in equation.outvars]
        if any(0 in value.shape for value in inputs):
            return fallback(name, inputs, outputs)
        return describe(name, equation.params, inputs, outputs)

    def _operator(self, equation: Any, described: Described, name: str, scope: str, repeats: int) -> None:
        pass_, source = self._whose(name, scope)
        inputs = tuple(self.read(v) for v in equation.invars if not isinstance(v, jex.Literal))
        outputs = tuple(self._new(v, pass_) for v in equation.outvars)
        self.builder.operator(
            described, name, pass_=pass_, source=source, inputs=inputs, outputs=outputs, repeats=repeats
        )

    def _new(self, var: Any, pass_: Pass) -> int:
        ordinary = Role.GRADIENT if pass_ == Pass.BACKWARD else Role.ACTIVATION
        role, name, in_place = self._wanted.get(var, (ordinary, "", -1))
        if role == Role.WEIGHT and in_place < 0:
            role = ordinary
        tensor = self.builder.tensor(aval_of(var), role, name=name, alias_of=in_place)
        self._known[var] = tensor
        return tensor

    def _whose(self, primitive: str, scope: str) -> tuple[Pass, str]:
        """Pass and source node of a scope such as ``transpose(jvp(node12))``."""
        numbers = NODE.findall(scope)
        index = int(numbers[-1]) if numbers else -1
        if UPDATE_SCOPE in scope:
            return Pass.UPDATE, self._updated[index] if index >= 0 else UPDATE_SCOPE
        pass_ = Pass.BACKWARD if "transpose(" in scope or primitive == "add_any" else Pass.FORWARD
        if index < 0:
            return pass_, LOSS_SCOPE if LOSS_SCOPE in scope else ""
        return pass_, self._sources[index]
