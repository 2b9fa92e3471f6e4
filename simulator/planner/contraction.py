"""Matrix products and convolutions as one problem, and ways to restate it. Splitting it over tiles is in ``search``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any, TypeVar

from simulator.graph.graph import Kind

GRAIN = 8  # bytes
Side = TypeVar("Side")
SPATIAL = ("field_in", "field_out", "kernel", "stride", "dilation", "input_dilation")


@dataclass(frozen=True)
class Contraction:
    """out[groups, batch, rows, width, outs] += in[groups, batch, rows, width, ins] x weights[groups, taps, ins, outs].

    ``rows`` x ``width`` are the output positions of one batch item that need work. A tile of ``r`` output rows reads
    ``r * row_step + row_halo`` input rows of ``in_width`` positions, never more than ``in_rows`` or ``r * row_taps``.
    ``fold`` is the number of kernel taps that were folded into ``ins``, ``folds`` says along which of both dimensions
    (rows, within a row); taps of a dimension that is not folded are still ``taps``.
    ``resident`` says which operand (input, weights) already lies where the plan wants it.
    """

    groups: int
    batch: int
    rows: int
    width: int
    ins: int
    outs: int
    taps: int
    in_rows: int
    in_width: int
    row_step: float
    row_halo: int
    row_taps: int
    half: bool
    half_partials: bool
    resident: tuple[bool, bool]
    fold: int = 1
    folds: tuple[bool, bool] = (False, False)
    transforms: tuple[str, ...] = ()
    copied: tuple[bool, bool] = (False, False)  # operands that tiles must rearrange before the vertex can use them
    relaid: tuple[bool, bool] = (False, False)  # operands that lie otherwise than the matrix unit reads them
    stride: int = 1  # along a row
    quarter: bool = False  # operands are 8-bit floats; results and partial sums are half then
    zero_filled: int = 0  # outputs that get no contribution (dilated inputs): cleared, not computed

    @property
    def element(self) -> int:
        """Bytes of an element of the operands."""
        return 1 if self.quarter else self.result

    @property
    def result(self) -> int:
        """Bytes of an element of the result."""
        return 2 if self.half else 4

    @property
    def partial(self) -> int:
        """Bytes of a partial sum."""
        return 2 if self.half and (self.half_partials or self.quarter) else 4

    @property
    def kernel_width(self) -> int:
        """Taps of one row of the kernel."""
        return max(1, self.taps // max(1, self.row_taps))

    @property
    def misaligned(self) -> bool:
        """Whether channels do not fill the 8-byte grains that are read at once: operands are then padded."""
        return self.ins * self.element % GRAIN != 0 and self.ins * self.element > GRAIN

    @property
    def macs(self) -> int:
        return self.groups * self.batch * self.rows * self.width * self.ins * self.outs * self.taps

    @property
    def outputs(self) -> int:
        return self.groups * self.batch * self.rows * self.width * self.outs


def contraction(
    kind: Kind,
    attributes: dict[str, Any],
    *,
    half: bool,
    half_partials: bool,
    resident: tuple[bool, bool],
    quarter: bool = False,
) -> Contraction:
    """The problem behind a MATMUL or CONV of the graph; ``quarter``: of 8-bit floats, with results in half."""
    if kind == Kind.MATMUL:
        rows = attributes["m"]
        return Contraction(
            attributes["batch"], 1, rows, 1, attributes["k"], attributes["n"], 1, rows, 1, 1.0, 0, 1,
            half, half_partials, resident, relaid=_relaid(attributes, resident), quarter=quarter,
        )  # fmt: skip
    columns = (attributes[name] for name in SPATIAL)
    dims = list(zip(*columns, strict=True)) or [(1, 1, 1, 1, 1, 1)]
    outs, taps = zip(*(_useful(out, kernel, spread) for _, out, kernel, _, _, spread in dims), strict=True)
    field_in, _, kernel, stride, dilation, spread = dims[0]
    reach = ceil(((kernel - 1) * dilation + 1) / spread)
    step = stride / spread if outs[0] == dims[0][1] else float(stride)
    everything = (
        prod(out for _, out, *_ in dims) * attributes["batch"] * attributes["groups"] * attributes["out_channels"]
    )
    problem = Contraction(
        attributes["groups"], attributes["batch"], outs[0], prod(outs[1:]),
        attributes["in_channels"], attributes["out_channels"], prod(taps),
        field_in, _columns_read(dims[1:], outs[1:], taps[1:]), step, max(0, reach - ceil(step)), taps[0],
        half, half_partials, resident, relaid=_relaid(attributes, resident), stride=stride, quarter=quarter,
    )  # fmt: skip
    return replace(problem, zero_filled=max(0, everything - problem.outputs))


def _relaid(attributes: dict[str, Any], resident: tuple[bool, bool]) -> tuple[bool, bool]:
    """Operands to rearrange first; what the plan itself places lies right from the start."""
    first, second = attributes.get("relaid", (False, False))
    return first and not resident[0], second and not resident[1]


def _useful(out: int, kernel: int, spread: int) -> tuple[int, int]:
    """Output positions that get a contribution, and taps that hit data, where inputs are spread with zeros between."""
    if kernel >= spread:
        return out, ceil(kernel / spread)
    return ceil(out * kernel / spread), 1


def _columns_read(dims: list[tuple[int, ...]], outs: tuple[int, ...], taps: tuple[int, ...]) -> int:
    """Input positions of one row that some tap reads: all of them unless strides skip over."""
    return prod(min(dim[0], out * tap) for dim, out, tap in zip(dims, outs, taps, strict=True))


def restatements(problem: Contraction) -> tuple[Contraction, ...]:
    """``problem`` and transforms PopLibs also tries: groups joined, kernel folded into channels, operands swapped.

    The kernel is folded along any of its dimensions, as PopLibs' planner tries every set of them (``expandDims``).
    """
    base = joined(problem)
    found = [base]
    if base.taps > 1:
        found.append(folded(base, (True, True)))
    if base.row_taps > 1 and base.kernel_width > 1:
        found += [folded(base, (True, False)), folded(base, (False, True))]
    found += [swapped(each) for each in tuple(found) if each.taps == 1]
    return tuple(found)


def joined(problem: Contraction) -> Contraction:
    """Several narrow groups as one block-diagonal group, as many as fill the sixteen channels of the matrix unit."""
    factor = min(problem.groups, max(1, 16 // max(problem.ins, problem.outs)))
    if factor == 1:
        return problem
    return replace(
        problem,
        groups=ceil(problem.groups / factor),
        ins=problem.ins * factor,
        outs=problem.outs * factor,
        transforms=(*problem.transforms, f"join {factor} groups"),
    )


def folded(problem: Contraction, folds: tuple[bool, bool]) -> Contraction:
    """Dimensions of the kernel (rows, within a row) folded into input channels: every tap of a position is a channel,
    copied where windows overlap."""
    taken = (problem.row_taps if folds[0] else 1) * (problem.kernel_width if folds[1] else 1)
    which = {(True, False): "fold rows of kernel", (False, True): "fold columns of kernel"}.get(folds, "fold kernel")
    return replace(
        problem,
        ins=problem.ins * taken,
        taps=problem.taps // taken,
        fold=taken,
        folds=folds,
        transforms=(*problem.transforms, which),
        copied=(True, problem.copied[1]),
    )


def swapped(problem: Contraction) -> Contraction:
    """Operands exchanged: output channels become the field. Good when there are few positions and many channels."""
    positions = problem.batch * problem.rows * problem.width
    return replace(
        problem,
        batch=1,
        rows=problem.outs,
        width=1,
        outs=positions,
        in_rows=problem.outs,
        in_width=1,
        row_step=1.0,
        row_halo=0,
        row_taps=1,
        fold=1,
        folds=(False, False),
        resident=(problem.resident[1], problem.resident[0]),
        transforms=(*problem.transforms, "swap operands"),
        copied=(problem.copied[1] or not problem.resident[1], problem.copied[0] or not problem.resident[0]),
    )


def asked_order(problem: Contraction, pair: tuple[Side, Side]) -> tuple[Side, Side]:
    """What belongs to the inputs and weights of ``problem`` in the order of the operator that was asked for."""
    first, second = pair
    return (second, first) if "swap operands" in problem.transforms else (first, second)
