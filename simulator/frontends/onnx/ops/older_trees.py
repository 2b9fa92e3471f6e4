"""Tree ensembles of ai.onnx.ml before version 5, put into the columns of the newer form and walked as that."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.classical import ML, post_transform
from simulator.frontends.onnx.ops.trees import Forest
from simulator.frontends.onnx.registry import op

MODES = {"BRANCH_LEQ": 0, "BRANCH_LT": 1, "BRANCH_GTE": 2, "BRANCH_GT": 3, "BRANCH_EQ": 4, "BRANCH_NEQ": 5}
LEAF = "LEAF"


@op("TreeEnsembleRegressor", domain=ML)
def regressor(call: Call, x: Any) -> Any:
    """[N, targets]: sums, means, least or greatest over trees, on top of base values."""
    targets = call.attr("n_targets", 1)
    found = _scores(call, x, "target", targets)
    how = call.text("aggregate_function", "SUM")
    functions: dict[str, Any] = {"SUM": jnp.sum, "AVERAGE": jnp.mean, "MIN": jnp.min, "MAX": jnp.max}
    if how not in functions:
        raise call.invalid(f"aggregates by {how}, which is not supported")
    return post_transform(call, functions[how](found, axis=1) + _base(call, targets, found.dtype))


@op("TreeEnsembleClassifier", domain=ML)
def classifier(call: Call, x: Any) -> tuple[Any, Any]:
    """The class [N] and the scores [N, classes]; a forest with one score for two classes is asked for both."""
    labels = call.attr("classlabels_int64s")
    if labels is None:
        raise call.invalid("names its classes by words, which are not supported")
    used = sorted({int(c) for c in call.required("class_ids")})
    columns = max(len(labels), 1)
    scores = jnp.sum(_scores(call, x, "class", columns), axis=1)
    if len(labels) == 2 and len(used) == 1:
        return _binary(call, scores, used[0], labels)
    scores = scores + _base(call, columns, scores.dtype)
    names = jnp.asarray(np.array(labels, np.int32))
    return names[jnp.argmax(scores, -1)], post_transform(call, scores)


def _binary(call: Call, scores: Any, only: int, labels: Any) -> tuple[Any, Any]:
    """Two classes of which one has a score: as that of the first class it stands for both."""
    base = call.attr("base_values")
    score = scores[:, only] + (float(base[0]) if base else 0.0)
    how = call.text("post_transform", "NONE")
    positive = how == "NONE" and min(call.required("class_weights")) >= 0
    chosen = score > (0.5 if positive else 0.0)
    if only:
        both = list(jnp.moveaxis(post_transform(call, scores.at[:, only].set(score)), -1, 0))
    elif how == "LOGISTIC":
        sure = post_transform(call, score)
        both = [1 - sure, sure]
    elif how == "NONE":
        both = [1 - score, score] if positive else [-score, score]
    else:
        raise call.invalid(f"has one score for two classes and post_transform {how}, which is not supported")
    return jnp.where(chosen, int(labels[1]), int(labels[0])), jnp.stack(both, -1)


def _base(call: Call, columns: int, dtype: Any) -> Any:
    base = call.attr("base_values")
    return jnp.zeros(columns, dtype) if not base else jnp.asarray(np.asarray(base), dtype)


def _scores(call: Call, x: Any, kind: str, columns: int) -> Any:
    """What the leaf that each sample reaches in each tree gives to each column: [N, trees, columns]."""
    numbers, attributes = _newer(call)
    wide = jnp.asarray(x).astype(jnp.float32) if not jnp.issubdtype(x.dtype, jnp.floating) else jnp.asarray(x)
    forest = Forest(call.as_if(attributes), wide.dtype)
    call.scratch(len(attributes["leaf_weights"]) * columns)
    table = np.zeros((len(attributes["leaf_weights"]), columns), np.float64)
    rows = (call.required(f"{kind}_{name}") for name in ("treeids", "nodeids", "ids", "weights"))
    for tree, node, column, weight in zip(*rows, strict=True):
        place = numbers.get((int(tree), int(node)))
        if place is None or place < forest.branches or not 0 <= column < columns:
            raise call.invalid("gives a weight to something that is not a leaf, or a column that there is not")
        table[place - forest.branches, int(column)] += weight
    return jnp.asarray(table, wide.dtype)[forest.leaves(wide)]


def _newer(call: Call) -> tuple[dict[tuple[int, int], int], dict[str, Any]]:
    """(tree, node) -> its number, branches first, then leaves; and the attributes of the newer operator."""
    trees, nodes = ([int(v) for v in call.required(f"nodes_{n}")] for n in ("treeids", "nodeids"))
    modes = [m.decode() for m in call.required("nodes_modes")]
    if not len(trees) == len(nodes) == len(modes) or set(modes) - {*MODES, LEAF}:
        raise call.invalid("has branches of a kind that is not supported")
    keys = list(zip(trees, nodes, strict=True))
    branches = [i for i, mode in enumerate(modes) if mode != LEAF]
    leaves = [i for i, mode in enumerate(modes) if mode == LEAF]
    first: dict[int, int] = {}
    for i, tree in enumerate(trees):
        first.setdefault(tree, i)
    stumps = [i for i in first.values() if modes[i] == LEAF]  # a tree of one leaf: a branch that leads there anyway
    count = len(branches) + len(stumps)
    numbers = {keys[i]: n for n, i in enumerate(branches)} | {keys[i]: count + n for n, i in enumerate(leaves)}
    below = {}
    for side in ("true", "false"):
        ids = [int(v) for v in call.required(f"nodes_{side}nodeids")]
        found = [numbers.get((trees[i], ids[i]), -1) for i in branches] + [numbers[keys[i]] for i in stumps]
        if -1 in found:
            raise call.invalid("has branches that lead outside of their tree")
        below[f"nodes_{side}leafs"] = [int(n >= count) for n in found]
        below[f"nodes_{side}nodeids"] = [n - count if n >= count else n for n in found]
    stump_of = {i: len(branches) + n for n, i in enumerate(stumps)}
    filler = [0] * len(stumps)
    missing = call.attr("nodes_missing_value_tracks_true")
    return numbers, {
        **below,
        "nodes_modes": np.array([MODES[modes[i]] for i in branches] + filler, np.uint8),
        "nodes_featureids": [int(call.required("nodes_featureids")[i]) for i in branches] + filler,
        "nodes_splits": np.array([call.required("nodes_values")[i] for i in branches] + filler, np.float64),
        "nodes_missing_value_tracks_true": ([int(missing[i]) for i in branches] + filler) if missing else None,
        "leaf_weights": np.zeros(len(leaves)),
        "leaf_targetids": [0] * len(leaves),
        "tree_roots": [stump_of.get(i, numbers[keys[i]]) for i in first.values()],
    }
