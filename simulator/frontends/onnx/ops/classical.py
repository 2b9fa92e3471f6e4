"""What ai.onnx.ml has besides trees: scaling, encoding, picking features, linear models."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call, is_known
from simulator.frontends.onnx.registry import op

ML = "ai.onnx.ml"


@op("ArrayFeatureExtractor", domain=ML)
def extract(call: Call, x: Any, places: Any) -> Any:
    picked = jnp.asarray(x)[..., jnp.asarray(places).reshape(-1)]
    return picked.reshape(1, -1) if x.ndim == 1 else picked


@op("Binarizer", domain=ML)
def binarise(call: Call, x: Any) -> Any:
    return (x > call.attr("threshold", 0.0)).astype(x.dtype)


@op("Scaler", domain=ML)
def scale(call: Call, x: Any) -> Any:
    offset, factor = (np.asarray(call.attr(n, d), np.float32) for n, d in (("offset", [0.0]), ("scale", [1.0])))
    return (jnp.asarray(x).astype(jnp.float32) - offset) * factor


@op("Normalizer", domain=ML)
def normalise(call: Call, x: Any) -> Any:
    wide, norm = jnp.asarray(x).astype(jnp.float32), call.text("norm", "MAX")
    sizes: dict[str, Any] = {
        "MAX": lambda: jnp.max(wide, -1, keepdims=True),
        "L1": lambda: jnp.sum(jnp.abs(wide), -1, keepdims=True),
        "L2": lambda: jnp.sqrt(jnp.sum(wide * wide, -1, keepdims=True)),
    }
    size = sizes[norm]()
    return wide / jnp.where(size == 0, 1, size)


@op("Imputer", domain=ML)
def impute(call: Call, x: Any) -> Any:
    kind = "float" if jnp.issubdtype(x.dtype, jnp.floating) else "int64"
    values, missing = call.required(f"imputed_value_{kind}s"), call.attr(f"replaced_value_{kind}", 0)
    gone = jnp.isnan(x) if kind == "float" and np.isnan(missing) else x == missing
    return jnp.where(gone, jnp.asarray(np.asarray(values), x.dtype), x)


@op("FeatureVectorizer", domain=ML)
def join_features(call: Call, *values: Any) -> Any:
    widths = call.attr("inputdimensions") or [v.shape[-1] for v in values]
    rows = [v.reshape(v.shape[0], -1)[:, :w] for v, w in zip(values, widths, strict=True)]
    return jnp.concatenate([jnp.asarray(v).astype(jnp.float32) for v in rows], 1)


@op("OneHotEncoder", domain=ML)
def encode_one_hot(call: Call, x: Any) -> Any:
    classes = call.attr("cats_int64s")
    if classes is None:
        raise call.invalid("encodes words, which are not supported")
    return (jnp.asarray(x)[..., None].astype(jnp.int32) == np.asarray(classes, np.int32)).astype(jnp.float32)


@op("LinearRegressor", domain=ML)
def regress(call: Call, x: Any) -> Any:
    targets = call.attr("targets", 1)
    weights = np.asarray(call.required("coefficients"), np.float32).reshape(targets, -1)
    y = jnp.matmul(jnp.asarray(x).astype(jnp.float32), weights.T)
    bias = call.attr("intercepts")
    return post_transform(call, y if bias is None else y + np.asarray(bias, np.float32))


def post_transform(call: Call, scores: Any) -> Any:
    """What ai.onnx.ml models do to their scores at the end."""
    how = call.text("post_transform", "NONE")
    functions: dict[str, Any] = {
        "NONE": lambda s: s,
        "SOFTMAX": lambda s: jax.nn.softmax(s, axis=-1),
        "LOGISTIC": jax.nn.sigmoid,
    }
    if how not in functions:
        raise call.invalid(f"has post_transform {how}, which is not supported")
    return functions[how](scores)


@op("LabelEncoder", domain=ML)
def encode_labels(call: Call, x: Any) -> Any:
    """Each element looked up among the keys; words only where they are known before the run."""
    keys, values, default = _lookup(call)
    if is_known(x):
        known = call.known(x, "labels")
        table = dict(zip(keys.tolist(), values.tolist(), strict=True))
        missing = table.get(float("nan"), default)
        found = [table.get(_plain(v), missing) for v in known.reshape(-1).tolist()]
        return np.array(found, values.dtype).reshape(known.shape)
    if keys.dtype == object or values.dtype == object:
        raise call.data_dependent("labels")
    same = jnp.asarray(x)[..., None] == keys
    if keys.dtype.kind == "f":
        same = same | (jnp.isnan(x)[..., None] & np.isnan(keys))
    return jnp.where(same.any(-1), jnp.asarray(values)[jnp.argmax(same, -1)], default)


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _lookup(call: Call) -> tuple[np.ndarray, np.ndarray, Any]:
    defaults = {"float": -0.0, "int64": -1, "string": "_Unused"}
    types: dict[str, Any] = {"float": np.float32, "int64": np.int64, "string": object}

    def column(side: str) -> tuple[np.ndarray, str]:
        for kind, dtype in types.items():
            listed = call.attr(f"{side}_{kind}s")
            if listed is not None:
                return np.array([_plain(v) for v in listed], dtype), kind
        tensor = np.asarray(call.required(f"{side}_tensor"))
        if tensor.dtype.kind in "OSU":
            return np.array([_plain(v) for v in tensor.reshape(-1)], object), "tensor"
        return tensor.reshape(-1), "tensor"

    (keys, _), (values, kind) = column("keys"), column("values")
    if kind == "tensor":
        return keys, values, np.asarray(call.required("default_tensor")).reshape(-1)[0]
    return keys, values, _plain(call.attr(f"default_{kind}", defaults[kind]))
