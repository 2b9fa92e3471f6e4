"""Matrix products: MatMul, Gemm, Einsum."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.composites import float8
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op


@op("MatMul")
def matmul(call: Call, a: Any, b: Any) -> Any:
    if float8.is_stored(b):
        return float8.rescaled(jnp.matmul(float8.narrowed(a), b, preferred_element_type=a.dtype))
    return jnp.matmul(a, b)


@op("Gemm")
def gemm(call: Call, a: Any, b: Any, c: Any = None) -> Any:
    if a.ndim != 2:  # old exporters leave out the Flatten
        a = a.reshape(a.shape[0], -1)
    # contracted where they lie, so that no weight is turned
    contract = ((0 if call.attr("transA", 0) else 1,), (1 if call.attr("transB", 0) else 0,))
    numbers: Any = (contract, ((), ()))
    if float8.is_stored(b):
        narrow = jax.lax.dot_general(float8.narrowed(a), b, numbers, preferred_element_type=a.dtype)
        product = float8.rescaled(narrow)
    else:
        product = jax.lax.dot_general(jnp.asarray(a), jnp.asarray(b), numbers)
    alpha, beta = call.attr("alpha", 1.0), call.attr("beta", 1.0)
    if alpha != 1.0:
        product = product * jnp.asarray(alpha, product.dtype)
    if c is None:
        return product
    return product + (c if beta == 1.0 else c * jnp.asarray(beta, product.dtype))


@op("Einsum")
def einsum(call: Call, *values: Any) -> Any:
    equation = call.text("equation", "")
    if len(values) > call.context.limits.einsum_terms:
        raise call.invalid(f"has {len(values)} terms, more than are supported")
    if "." not in equation:
        call.claim(_einsum_shape(call, equation, values))
    return jnp.einsum(equation, *values, optimize="optimal" if len(values) <= 4 else "greedy")


def _einsum_shape(call: Call, equation: str, values: tuple[Any, ...]) -> list[int]:
    """Shape of the result of an equation without ellipsis."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    sizes: dict[str, int] = {}
    for term, value in zip(terms.split(","), values, strict=True):
        if len(term) != value.ndim:
            raise call.invalid(f"has equation '{equation[:100]}', which does not fit shape {list(value.shape)}")
        sizes.update(zip(term, (int(s) for s in value.shape), strict=True))
    if not arrow:
        letters = terms.replace(",", "")
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return [sizes[c] for c in result]


@op("MatMulInteger", untrained=(2, 3))
def matmul_integer(call: Call, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    wide_a, wide_b = jnp.asarray(a).astype(jnp.int32), jnp.asarray(b).astype(jnp.int32)
    if a_zero is not None:
        zero = jnp.asarray(a_zero).astype(jnp.int32)
        wide_a = wide_a - (zero.reshape(-1, 1) if np.ndim(a_zero) == 1 and zero.size > 1 else zero)
    if b_zero is not None:
        wide_b = wide_b - jnp.asarray(b_zero).astype(jnp.int32)
    return jnp.matmul(wide_a, wide_b)


@op("Det")
def determinant(call: Call, x: Any) -> Any:
    return jnp.linalg.det(x)
