"""scikit-learn's handwritten digits (1,797 images of 8 x 8 in 17 levels), fitted to the image input of a model."""

from __future__ import annotations

import math

import numpy as np

from simulator.learning.step import FLOATS
from simulator.numerics.data import Shuffled, Source, mismatch
from simulator.program import Array, Objective, Program, TensorSpec

CLASSES = 10
SIDE = 8
LEVELS = 16.0
LARGEST_SIDE = 256


def digits(program: Program, objective: Objective | None, seed: int) -> Source:
    """Batches of digits for the model's one image input. Raises ``dataset.mismatch``."""
    if len(program.inputs) != 1 or program.inputs[0].dtype not in FLOATS:
        raise mismatch("The digits need a model with one float image input. Use dataset 'synthetic' for this model.")
    if objective is not None and _other_task(objective):
        raise mismatch("The digits need a model with at least ten classes. Use dataset 'synthetic' for this model.")
    if objective is not None and len(objective.shape) != 2:
        raise mismatch("The digits need one row of class scores an image. Use dataset 'synthetic' for this model.")
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    fitted = fit(images.reshape(-1, SIDE, SIDE).astype(np.float32) / LEVELS, program.inputs[0])
    return Shuffled({program.inputs[0].name: fitted}, labels.astype(np.int32), batch=program.batch, seed=seed)


def _other_task(objective: Objective) -> bool:
    return objective.kind != "cross_entropy" or objective.classes < CLASSES or bool(objective.others)


def fit(images: Array, spec: TensorSpec) -> Array:
    """Images [N, 8, 8] as the input wants them: [N, features], [N, H, W], [N, C, H, W] or [N, H, W, C]."""
    shape = spec.shape[1:]
    count = len(images)
    if len(shape) == 1:
        side = math.isqrt(shape[0])
        if side * side == shape[0] and SIDE <= side <= LARGEST_SIDE:
            return resized(images, side, side).reshape(count, -1)
    elif len(shape) == 2 and _drawable(*shape):
        return resized(images, *shape)
    elif len(shape) == 3 and shape[0] <= 4 and _drawable(*shape[1:]):
        return np.repeat(resized(images, *shape[1:])[:, None], shape[0], axis=1)
    elif len(shape) == 3 and shape[2] <= 4 and _drawable(*shape[:2]):
        return np.repeat(resized(images, *shape[:2])[..., None], shape[2], axis=3)
    raise mismatch(
        f"Input '{spec.name[:100]}' of shape {list(spec.shape)} is not an image that the digits fit. "
        "Use dataset 'synthetic' for this model."
    )


def _drawable(height: int, width: int) -> bool:
    return SIDE <= height <= LARGEST_SIDE and SIDE <= width <= LARGEST_SIDE


def resized(images: Array, height: int, width: int) -> Array:
    """Images [N, 8, 8] to [N, height, width] by linear interpolation between pixel centres."""
    return np.einsum("hi,nij,wj->nhw", _matrix(height), images, _matrix(width)).astype(np.float32)


def _matrix(size: int) -> Array:
    at = np.clip((np.arange(size) + 0.5) * SIDE / size - 0.5, 0, SIDE - 1)
    low = np.minimum(at.astype(int), SIDE - 2)
    matrix = np.zeros((size, SIDE), np.float32)
    matrix[np.arange(size), low] = 1 - (at - low)
    matrix[np.arange(size), low + 1] = at - low
    return matrix
