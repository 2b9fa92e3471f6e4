"""Hand-written kernels of the field, whole in the trace: stencils over a mesh, and STREAM's triad.

One call is a whole run of ``steps`` sweeps. Numbers are of one piece of the mesh, with cold cells round it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.catalogue import COMPOSITES, Shapes, whole

DIFFUSION = 0.1
SCALE = 3.0  # of STREAM's triad


@dataclass(frozen=True)
class Form:
    """``dimensions`` of the mesh, ``points`` read for one written, in ``rows`` rows of memory; flops of a cell.

    ``apart``: arithmetic instructions of a vector that follow all of its loads, so that none shares a bundle with one.
    ``grid``: how the source cuts the mesh, to the smallest share of a worker ("even") or to parts of its shape
    ("alike").
    """

    dimensions: int
    points: int
    rows: int
    flops: int
    apart: int = 0
    grid: str = "even"


FORMS = {
    "heat2d": Form(2, 5, 3, 6),
    "heat3d": Form(3, 7, 5, 8),
    # thorbenlouw/lbm-graphcore: nine neighbours are read into variables, then eight sums and three products; its tiles
    # lie in sqrt(tiles x height / width) rows
    "blur": Form(2, 9, 3, 11, apart=11, grid="alike"),
    "triad": Form(1, 2, 2, 2),
}


def sweep(form: str, steps: int, *, lanes: int, assembly: bool, pieces: int) -> Callable[..., Any]:
    """The kernel: of ``x`` (a mesh, for "blur" with channels last), or of ``b`` and ``c`` for "triad".

    ``lanes`` are elements of an instruction; ``assembly``: loads, arithmetic and store of a loop share one cycle;
    ``pieces`` of the mesh lie on as many IPUs, side by side along its first dimension.
    """
    return _kept(form, steps, lanes, assembly, pieces)


@lru_cache(maxsize=64)
def _kept(form: str, steps: int, lanes: int, assembly: bool, pieces: int) -> Callable[..., Any]:
    name = f"stencil_{form}_{steps}_{lanes}_{int(assembly)}_{pieces}"
    COMPOSITES.pop(name, None)  # a kernel that the cache has dropped is described anew

    def describe(shapes: Shapes) -> dict[str, Any]:
        known = FORMS[form]
        return {
            "op": form, "mesh": shapes[0][: known.dimensions], "channels": math.prod(shapes[0][known.dimensions :]),
            "points": known.points, "rows": known.rows, "flops": known.flops, "apart": known.apart, "grid": known.grid,
            "steps": steps, "lanes": lanes, "assembly": assembly, "pieces": pieces,
        }  # fmt: skip

    made: Callable[..., Any] = whole("STENCIL", describe, name)(_NUMBERS[form](steps))
    return made


def _repeated(once: Callable[[Any], Any]) -> Callable[[int], Callable[[Any], Any]]:
    return lambda steps: lambda x: jax.lax.fori_loop(0, steps, lambda _, u: once(u), x)


def _shifted(u: Any, axis: int, by: int) -> Any:
    """``u`` moved along ``axis``; what enters is 0."""
    padding = [(0, 0)] * u.ndim
    padding[axis] = (max(0, by), max(0, -by))
    size = u.shape[axis]
    return jax.lax.slice_in_dim(jnp.pad(u, padding), max(0, -by), max(0, -by) + size, axis=axis)


def _heat(u: Any) -> Any:
    around = sum(_shifted(u, axis, by) for axis in range(u.ndim) for by in (-1, 1))
    return u + jnp.asarray(DIFFUSION, u.dtype) * (around - 2 * u.ndim * u)


def _blur(u: Any) -> Any:
    """The 3 x 3 binomial filter on every channel."""
    for axis in (0, 1):
        u = (_shifted(u, axis, -1) + 2 * u + _shifted(u, axis, 1)) / 4
    return u


def _triad(steps: int) -> Callable[[Any, Any], Any]:
    del steps  # every sweep writes the same
    return lambda b, c: b + jnp.asarray(SCALE, c.dtype) * c


_NUMBERS: dict[str, Callable[[int], Callable[..., Any]]] = {
    "heat2d": _repeated(_heat),
    "heat3d": _repeated(_heat),
    "blur": _repeated(_blur),
    "triad": _triad,
}
