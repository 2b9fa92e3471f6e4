"""Walks a graph in order: gives each operator its plan and first tile, each tensor its layout. No time line."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from simulator.errors import SimulatorError
from simulator.graph.graph import Graph, Kind, Role
from simulator.machines.ipu import Ipu
from simulator.planner.cell import plan_cell
from simulator.planner.composite import plan_norm, plan_softmax
from simulator.planner.contraction import contraction
from simulator.planner.ctc import plan_ctc
from simulator.planner.elementwise import plan_elementwise
from simulator.planner.grid import plan_contraction
from simulator.planner.grouped_slices import plan_grouped
from simulator.planner.layout import Layout, Spread, linear, scaled
from simulator.planner.movement import plan_movement
from simulator.planner.plan import Plan
from simulator.planner.rows import (
    plan_fallback,
    plan_pool,
    plan_random,
    plan_reduce,
    plan_sort,
)
from simulator.planner.slices import Slices, plan_gather, plan_update, table_spread
from simulator.planner.stencil import plan_stencil, sweeps_of
from simulator.planner.topk import plan_topk

LIKE_A_WEIGHT = frozenset({int(Role.OPTIMISER_STATE), int(Role.ACCUMULATOR)})


@dataclass(frozen=True)
class Options:
    """What a user may set of planning."""

    available_memory_proportion: float
    half_partials: bool


@dataclass(frozen=True)
class Assignment:
    """``plans`` and ``starts``: one an operator. ``layouts``: one a root tensor that an operator touches."""

    plans: tuple[Plan, ...]
    starts: tuple[int, ...]
    layouts: dict[int, Layout]


def assign(graph: Graph, ipu: Ipu, options: Options, on_progress: Callable[[float], None] | None = None) -> Assignment:
    """Plan every operator of ``graph``. Deterministic; equal operators share one plan."""
    walk = _Walk(graph, ipu, options)
    for index in range(len(graph.ops)):
        walk.operator(index)
        if on_progress is not None and index % 64 == 0:
            on_progress(index / len(graph.ops))
    return Assignment(tuple(walk.plans), tuple(walk.starts), walk.layouts)


class _Walk:
    def __init__(self, graph: Graph, ipu: Ipu, options: Options) -> None:
        self.graph = graph
        self.ipu = ipu
        self.options = options
        self.plans: list[Plan] = []
        self.starts: list[int] = []
        self.layouts: dict[int, Layout] = {}
        self.cursor = 0
        tensors = graph.tensors
        owners = np.flatnonzero((tensors.role == Role.WEIGHT) & (tensors.alias_of < 0)).tolist()
        self.weights = {tensors.name[root]: root for root in owners}
        self.done: dict[Hashable, tuple[Plan, int]] = {}  # what reads a weight, with the plan that placed it

    def operator(self, index: int) -> None:
        kind = Kind(self.graph.ops.kind[index])
        if kind in (Kind.MATMUL, Kind.CONV):
            self._contraction(index, kind)
        elif kind == Kind.ELEMENTWISE:
            self._elementwise(index)
        elif kind == Kind.CELL:
            self._cell(index)
        elif kind in (Kind.NORM, Kind.SOFTMAX):
            self._composite(index, kind)
        elif kind == Kind.REDUCE:
            self._reduce(index)
        else:
            self._placed(index, self._other(index, kind))

    def elements(self, root: int) -> int:
        tensors = self.graph.tensors
        return max(1, int(tensors.bytes[root]) // self.itemsize(root))

    def itemsize(self, tensor: int) -> int:
        tensors = self.graph.tensors
        count = max(1, prod(tensors.shape[tensor]))
        root = tensors.root(tensor)
        if tensor == root and tensors.bytes[root] > 0:
            return max(1, int(tensors.bytes[root]) // count)
        return np.dtype(tensors.dtype[tensor]).itemsize

    def roots(self, index: int) -> list[int]:
        """Distinct tensors that own the bytes which operator ``index`` reads."""
        return list(dict.fromkeys(self.graph.tensors.root(t) for t in self.graph.ops.inputs[index]))

    def layout(self, root: int) -> Layout:
        """Where ``root`` lies; a tensor nobody placed yet is mapped linearly from the next free tile.

        What a weight is updated with is made like the weight: PopART and TensorFlow clone its mapping.
        """
        if root not in self.layouts and self.graph.tensors.role[root] in LIKE_A_WEIGHT:
            weight = self.weights.get(self.graph.tensors.name[root].removesuffix(".first").removesuffix(".second"), -1)
            if weight in self.layouts and self.elements(weight) == self.elements(root):
                self.layouts[root] = self.layouts[weight]
        if root not in self.layouts:
            spread = linear(self.elements(root), self.itemsize(root), self.ipu)
            self.layouts[root] = Layout(spread, self._advance(spread.used))
        return self.layouts[root]

    def _advance(self, used: int) -> int:
        """The next free tile; pairs of tiles stay together, so it is even."""
        start = self.cursor
        self.cursor = (start + used + used % 2) % self.ipu.tiles
        return start

    def _record(self, index: int, plan: Plan, start: int, across: int = 0) -> None:
        self.plans.append(plan)
        self.starts.append(start)
        first = Layout(Spread(plan.outputs), start, across)
        for tensor in self.graph.ops.outputs[index]:
            root = self.graph.tensors.root(tensor)
            if root in self.layouts:
                continue  # written in place
            if self.elements(root) == first.spread.total:
                self.layouts[root] = first
            else:
                self.layout(root)

    def _placed(self, index: int, plan: Plan) -> None:
        for root in self.roots(index):
            self.layout(root)
        self._record(index, plan, self._advance(Spread(plan.outputs).used))

    def _contraction(self, index: int, kind: Kind) -> None:
        tensors = self.graph.tensors
        sides = [tensors.root(t) for t in self.graph.ops.inputs[index][:2]]
        again = self._again(index, sides)
        if again in self.done:
            plan, start = self.done[again]
            for root in sides:
                self.layout(root)
            self._record(index, plan, start, _across(plan, kind))
            return
        free = tuple(tensors.role[r] == Role.WEIGHT and r not in self.layouts for r in sides)
        problem = contraction(
            kind,
            self.graph.ops.attributes[index],
            half=self.itemsize(self.graph.ops.outputs[index][0]) == 2,
            half_partials=self.options.half_partials,
            resident=(free[0], free[1]),
            quarter=self._quarter(index),
        )
        plan = plan_contraction(problem, self.ipu, self.options.available_memory_proportion)
        start = self._advance(plan.tiles_used)
        for root, wanted in zip(sides, plan.operands, strict=False):
            if wanted is not None and root not in self.layouts and wanted.any():
                self.layouts[root] = Layout(scaled(self.elements(root), Spread(wanted)), start)
        for root in sides:
            self.layout(root)
        if any(free):
            self.done[again] = (plan, start)
        self._record(index, plan, start, _across(plan, kind))

    def _again(self, index: int, sides: list[int]) -> Hashable:
        """Equal for the same work with the same weight: done again by recomputation, it finds the weight in place."""
        weights = tuple(root if self.graph.tensors.role[root] == Role.WEIGHT else -1 for root in sides)
        attributes = self.graph.ops.attributes[index]
        return int(self.graph.ops.kind[index]), weights, tuple(sorted(attributes.items()))

    def _quarter(self, index: int) -> bool:
        """Whether a product reads 8-bit floats. Raises ``config.invalid`` on a chip whose matrix unit cannot."""
        dtypes = [self.graph.tensors.dtype[t] for t in self.graph.ops.inputs[index][:2]]
        if not all(dtype.startswith("float8") for dtype in dtypes):
            return False
        if not self.ipu.whole("amp.units_quarter"):
            raise SimulatorError(
                "config.invalid",
                f"The matrix unit of a {self.ipu.chip} has no 8-bit floats. Use precision fp16, or a C600.",
                params={"field": "precision", "legal": "fp16 or fp32"},
            )
        return True

    def _elementwise(self, index: int) -> None:
        attributes = self.graph.ops.attributes[index]
        home = self._home(index, attributes["elements"])
        foreign = tuple(sorted(self._foreign(index, home)))
        plan = plan_elementwise(
            attributes["functions"], self._dtype(index), attributes["arity"], home.spread, foreign, self.ipu
        )
        self._record(index, plan, home.start, home.across)

    def _composite(self, index: int, kind: Kind) -> None:
        """A composite runs where its first operand lies; all tiles that hold a channel share its statistics."""
        a = self.graph.ops.attributes[index]
        home = self._home(index, a["rows"] * a["columns"])
        foreign, dtype = tuple(sorted(self._foreign(index, home))), self._dtype(index)
        across = home.across
        if a["name"] == "ctc":
            batch, itemsize = a["rows"] // a["frames"], self.itemsize(self.graph.ops.inputs[index][0])
            plan = plan_ctc(batch, a["frames"], a["tokens"], a["columns"], itemsize, home.spread, self.ipu)
        elif a["name"] == "batch_norm_inference":  # given statistics: a multiply and an add
            plan = plan_elementwise(("mul", "add"), dtype, 2, home.spread, foreign, self.ipu)
        elif kind == Kind.NORM:
            if a["name"].startswith("batch_norm"):
                across = home.spread.used // max(1, across)
            plan = plan_norm(a["name"], a["rows"], a["columns"], across, dtype, home.spread, foreign, self.ipu)
        else:
            plan = plan_softmax(a["name"], a["rows"], a["columns"], across, dtype, home.spread, foreign, self.ipu)
        self._record(index, plan, home.start, home.across)

    def _cell(self, index: int) -> None:
        """A cell runs where the state lies; its results stay there."""
        a = self.graph.ops.attributes[index]
        for root in self.roots(index):
            self.layout(root)
        home = self._home(index, a["rows"] * a["columns"])
        itemsize = self.itemsize(self.graph.ops.outputs[index][0])
        self._record(index, plan_cell(a["name"], self._dtype(index), itemsize, home.spread, self.ipu), home.start)

    def _home(self, index: int, elements: int) -> Layout:
        """Where an element-wise operator runs: where it writes in place, else with its first operand of full size."""
        tensors = self.graph.tensors
        written = [tensors.root(t) for t in self.graph.ops.outputs[index] if tensors.alias_of[t] >= 0]
        for root in (*written, *self.roots(index)):
            if self.elements(root) == elements:
                return self.layout(root)
        output = self.graph.ops.outputs[index][0]
        spread = linear(elements, self.itemsize(output), self.ipu)
        return Layout(spread, self._advance(spread.used))

    def _foreign(self, index: int, home: Layout) -> list[tuple[int, int]]:
        tensors = self.graph.tensors
        found: dict[int, tuple[int, int]] = {}
        for tensor in self.graph.ops.inputs[index]:
            root = tensors.root(tensor)
            if self.layout(root) != home:
                read = min(max(1, prod(tensors.shape[tensor])), self.elements(root))
                found[root] = (max(read, found.get(root, (0, 0))[0]), self.itemsize(root))
        return list(found.values())

    def _dtype(self, index: int) -> str:
        """The floating type an operator works in, or else the type of its first output."""
        ops, tensors = self.graph.ops, self.graph.tensors
        names = [tensors.dtype[t] for t in (*ops.inputs[index], *ops.outputs[index])]
        floating = [name for name in names if "float" in name]
        return floating[0] if floating else names[-1]

    def _reduce(self, index: int) -> None:
        attributes = self.graph.ops.attributes[index]
        source = self.layout(self.graph.tensors.root(self.graph.ops.inputs[index][0]))
        for root in self.roots(index):
            self.layout(root)
        plan = plan_reduce(
            self._sharing(index, source),
            attributes["op"],
            attributes["inputs"],
            attributes["outputs"],
            self.itemsize(self.graph.ops.inputs[index][0]),
            scaled(attributes["inputs"], source.spread),
            self.ipu,
        )
        self._record(index, plan, source.start)

    def _sharing(self, index: int, source: Layout) -> int:
        """Tiles that share each output of a reduction, where the producer's cut of the channels tells; else 0."""
        attributes, shape = self.graph.ops.attributes[index], self.graph.tensors.shape[self.graph.ops.inputs[index][0]]
        if source.across == 0 or len(shape) < 2:
            return 0
        if attributes["outputs"] * shape[-1] == attributes["inputs"]:
            return min(source.across, shape[-1])
        if attributes["outputs"] in (shape[1], shape[-1]):
            return max(1, source.spread.used // source.across)
        return 0

    def _other(self, index: int, kind: Kind) -> Plan:
        a, ipu = self.graph.ops.attributes[index], self.ipu
        output = self.graph.ops.outputs[index][0]
        itemsize = self.itemsize(output)
        if kind == Kind.MOVEMENT:
            return plan_movement(a["op"], max(1, a["bytes"] // itemsize), itemsize, ipu)
        if kind in (Kind.GATHER, Kind.SCATTER) and a.get("groups", 1) > 1:
            per_group = (a["rows"] // a["groups"], a["row_elements"], a["table_rows"] // a["groups"])
            return plan_grouped(a["groups"], *per_group, itemsize, kind == Kind.SCATTER, ipu)
        if kind in (Kind.GATHER, Kind.SCATTER):
            again = self._again(index, [self.graph.tensors.root(self.graph.ops.inputs[index][0])])
            if again in self.done:
                return self.done[again][0]
            slices = self._slices(index, kind)
            plan = plan_gather(slices, ipu) if kind == Kind.GATHER else plan_update(slices, ipu)
            if slices.resident:
                self.done[again] = (plan, 0)
            return plan
        if kind == Kind.POOL:
            backward = len(self.graph.ops.inputs[index]) > 1 and "reduce_window" not in self.graph.ops.primitive[index]
            return plan_pool(a["outputs"], a["window"], backward, itemsize, ipu)
        if kind == Kind.RANDOM:
            return plan_random(a["elements"], itemsize, ipu)
        if kind == Kind.STENCIL:
            return plan_stencil(sweeps_of(a, itemsize), ipu)
        if kind == Kind.SORT and "kept" in a:
            return plan_topk(a["rows"], a["columns"], a["kept"], itemsize, ipu)
        if kind == Kind.SORT:
            return plan_sort(a["rows"], a["columns"], itemsize, ipu)
        foreign = tuple(sorted((self.elements(r), self.itemsize(r)) for r in self.roots(index)))
        return plan_fallback(a["op"], a["elements"], itemsize, foreign, ipu)

    def _slices(self, index: int, kind: Kind) -> Slices:
        """A table that is given and was not placed yet is placed as its first user wants it."""
        a = self.graph.ops.attributes[index]
        tensors = self.graph.tensors
        table = tensors.root(self.graph.ops.inputs[index][0])
        found = Slices(
            a["rows"], a["row_elements"], a["table_rows"], self.itemsize(self.graph.ops.outputs[index][0]),
            kind == Kind.SCATTER, True, self.options.available_memory_proportion,
        )  # fmt: skip
        if tensors.role[table] <= Role.CONSTANT and table not in self.layouts:
            wanted = table_spread(found, self.ipu)
            self.layouts[table] = Layout(scaled(self.elements(table), wanted), self._advance(wanted.used))
            return found
        return replace(found, resident=False)


def _across(plan: Plan, kind: Kind) -> int:
    """Tiles over which channels are cut; groups of a convolution are channels too."""
    splits = dict(plan.splits)
    return splits["across"] * (splits["groups"] if kind == Kind.CONV else 1)
