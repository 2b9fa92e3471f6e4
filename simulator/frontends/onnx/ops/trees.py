"""Tree ensembles of ai.onnx.ml: every sample walks every tree at once, as many steps as the deepest tree has levels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op

# nodes_modes of TreeEnsemble-5: BRANCH_LEQ, LT, GTE, GT, EQ, NEQ
COMPARISONS = (jnp.less_equal, jnp.less, jnp.greater_equal, jnp.greater, jnp.equal, jnp.not_equal)
MEMBER = 6


@op("TreeEnsemble", domain="ai.onnx.ml")
def tree_ensemble(call: Call, x: Any) -> Any:
    """Sum (or average, least, greatest) over trees of the leaf that each sample [N, features] reaches: [N, targets]."""
    forest = Forest(call, x.dtype)
    leaf = forest.leaves(x)
    targets, weights = forest.targets[leaf], forest.weights[leaf]
    return _transformed(call, _aggregated(call, targets, weights))


def _aggregated(call: Call, targets: Any, weights: Any) -> Any:
    count, how = call.attr("n_targets", 1), call.attr("aggregate_function", 1)
    if count == 1:
        functions: dict[int, Any] = {0: jnp.mean, 1: jnp.sum, 2: jnp.min, 3: jnp.max}
        return functions[how](weights, axis=1, keepdims=True)
    if how not in (0, 1):
        raise call.invalid("takes the least or greatest of several targets, which is not supported")
    hot = jax.nn.one_hot(targets, count, dtype=weights.dtype)
    total = jnp.einsum("st,stc->sc", weights, hot)
    return total / targets.shape[1] if how == 0 else total


def _transformed(call: Call, scores: Any) -> Any:
    how = call.attr("post_transform", 0)
    if how == 0:
        return scores
    if how == 1:
        return jax.nn.softmax(scores, axis=-1)
    if how == 2:
        return jax.nn.sigmoid(scores)
    raise call.invalid(f"has post_transform {how}, which is not supported")


class Forest:
    """Columns of branches, then leaves, in one numbering; true and false children of a leaf are itself."""

    def __init__(self, call: Call, dtype: Any) -> None:
        modes = np.asarray(call.required("nodes_modes")).reshape(-1)
        self.members = _members(call, modes, dtype)
        self.branches = len(modes)
        self.weights = _column(call, "leaf_weights", dtype)
        self.targets = jnp.asarray(np.array(call.required("leaf_targetids"), np.int32))
        self.features = jnp.asarray(np.array(call.required("nodes_featureids"), np.int32))
        self.splits = _column(call, "nodes_splits", dtype)
        missing = call.attr("nodes_missing_value_tracks_true")
        self.missing = jnp.asarray(np.array(missing if missing else [0] * self.branches, bool))
        self.kinds = sorted({int(m) for m in modes})
        self.modes = jnp.asarray(modes.astype(np.int32))
        yes = self._children(call, "nodes_trueleafs", "nodes_truenodeids")
        no = self._children(call, "nodes_falseleafs", "nodes_falsenodeids")
        roots = np.array(call.required("tree_roots"), np.int32)
        self.trees = len(roots)
        self.depth = _depth(call, roots, yes, no, self.branches)
        leaves = np.arange(self.branches, self.branches + len(self.weights), dtype=np.int32)
        # a tree that is one leaf has both children of its root equal to that leaf
        self.yes = jnp.asarray(np.concatenate([yes, leaves]))
        self.no = jnp.asarray(np.concatenate([no, leaves]))
        self.roots = jnp.asarray(roots)

    def _children(self, call: Call, leaf_flags: str, identities: str) -> np.ndarray:
        flags = np.array(call.required(leaf_flags), bool)
        ids = np.array(call.required(identities), np.int64)
        limit = np.where(flags, len(self.weights), self.branches)
        if len(flags) != self.branches or len(ids) != self.branches or ((ids < 0) | (ids >= limit)).any():
            raise call.invalid(f"has {identities} that point outside the tree")
        return (ids + np.where(flags, self.branches, 0)).astype(np.int32)

    def leaves(self, x: Any) -> Any:
        """The leaf that each sample reaches in each tree: [N, trees]."""
        here = jnp.broadcast_to(self.roots, (x.shape[0], self.trees))
        for _ in range(self.depth):
            here = self._step(x, here)
        return here - self.branches  # leaves are numbered past the branches

    def _step(self, x: Any, here: Any) -> Any:
        branch = jnp.minimum(here, self.branches - 1)
        value = jnp.take_along_axis(x, self.features[branch], axis=1)
        split, mode = self.splits[branch], self.modes[branch]
        taken = jnp.zeros(here.shape, bool)
        if MEMBER in self.kinds:
            inside = (value[..., None] == self.members[branch]).any(-1)
            taken = jnp.where(mode == MEMBER, inside, taken)
        for kind in [k for k in self.kinds if k != MEMBER]:
            taken = jnp.where(mode == kind, COMPARISONS[kind](value, split), taken)
        taken = taken | (jnp.isnan(value) & self.missing[branch])
        return jnp.where(taken, self.yes[here], self.no[here])


def _column(call: Call, name: str, dtype: Any) -> Any:
    """An attribute in the type of the run; thresholds beyond float16 become infinite, which compares as it should."""
    with np.errstate(over="ignore"):
        return jnp.asarray(np.asarray(call.required(name)).reshape(-1).astype(dtype))


def _members(call: Call, modes: np.ndarray, dtype: Any) -> Any:
    """[branches, largest set]: the set of each branch that asks for membership, filled up with what equals nothing."""
    listed = np.asarray(call.attr("membership_values", []), np.float64).reshape(-1)
    ends = np.flatnonzero(np.isnan(listed))
    asking = np.flatnonzero(modes == MEMBER)
    if len(asking) > len(ends):
        raise call.invalid("branches on set membership, but does not list a set for each")
    sets = np.split(listed, ends + 1)[: len(asking)]
    width = max((len(s) for s in sets), default=1)
    table = np.full((len(modes), call.scratch(max(1, width) * len(modes)) // len(modes)), np.nan)
    for branch, members in zip(asking, sets, strict=True):
        table[branch, : len(members)] = members
    return jnp.asarray(table.astype(dtype))


def _depth(call: Call, roots: np.ndarray, yes: np.ndarray, no: np.ndarray, branches: int) -> int:
    """Levels of the deepest tree; more levels than branches means a cycle."""
    front, levels = np.unique(roots), 0
    while len(front):
        levels += 1
        if levels > min(branches, 4096):
            raise call.invalid("has a tree that leads back into itself")
        below = np.unique(np.concatenate([yes[front], no[front]]))
        front = below[below < branches]
    return levels
