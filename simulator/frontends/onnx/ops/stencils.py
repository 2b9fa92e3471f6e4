"""Operators of domain "podium": kernels written by hand for an IPU, as the micro-benchmarks of the zoo use them."""

from __future__ import annotations

from typing import Any

from simulator.composites.stencils import FORMS, sweep
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op

DOMAIN = "podium"


@op("Stencil", domain=DOMAIN)
def stencil(call: Call, x: Any) -> Any:
    """``steps`` sweeps of the stencil ``form`` over the mesh ``x``; same shape."""
    form = _form(call)
    if x.ndim < FORMS[form].dimensions or form == "triad":
        raise call.invalid(f"cannot sweep form '{form}' over {x.ndim} dimensions")
    return _swept(call, form)(x)


@op("Triad", domain=DOMAIN)
def triad(call: Call, b: Any, c: Any) -> Any:
    """b + 3 c of two vectors, written ``steps`` times over."""
    return _swept(call, "triad")(b, c)


def _form(call: Call) -> str:
    form = call.attr("form", b"heat2d")
    name = form.decode() if isinstance(form, bytes) else str(form)
    if name not in FORMS:
        raise call.invalid("has a form that is not known; known are " + ", ".join(FORMS))
    return name


def _swept(call: Call, form: str) -> Any:
    steps, lanes, pieces = (int(call.attr(name, 1)) for name in ("steps", "lanes", "pieces"))
    if min(steps, lanes, pieces) < 1:
        raise call.invalid("needs steps, lanes and pieces of 1 or more")
    return sweep(form, steps, lanes=lanes, assembly=bool(call.attr("assembly", 0)), pieces=pieces)
