"""DINO (Caron et al. 2021, arXiv 2104.14294): a student vision transformer on many crops of an image learns what a
teacher says of the two large ones.

Student and teacher go layer by layer side by side, so that "layer3." is a part of both. The teacher's weights take no
gradient; the moving average that updates them is not costed.
"""

from __future__ import annotations

import numpy as np

from simulator.zoo.catalogue import refused
from simulator.zoo.encoder import Layer, activated, layer
from simulator.zoo.layers import dense, layer_norm
from simulator.zoo.network import Network
from simulator.zoo.vit import patches
from simulator.zoo.weights import ZEROS, Start

SPREAD = Start("normal", 0.02)
EPSILON = 1e-6
LARGE = 2  # crops that the teacher sees
HIDDEN, NECK = 2048, 256  # widths of the head
STUDENT_HEAT, TEACHER_HEAT = 0.1, 0.04  # softmax temperatures
NAMES = {"student.large": "student", "student.small": "student", "teacher.large": "teacher"}


def build(
    *, layers: int, width: int, heads: int, patch: int, size: int, small_size: int, crops: int, targets: int,
    qkv_products: int, decomposed_gelu: int,
) -> Network:  # fmt: skip
    """Inputs ``large`` [batch, 2, 3, size, size] and ``small`` [batch, crops, 3, small_size, small_size]; output
    ``loss`` [batch], the cross-entropy of every student crop against the teacher's other large crop."""
    if small_size > size:
        raise refused("small_size", f"at most {size}, the side of a large crop")
    like = Layer(
        width, heads, 4 * width, norm_first=True, qkv_products=qkv_products, epsilon=EPSILON,
        activation="DecomposedGelu" if decomposed_gelu else "Gelu",
    )  # fmt: skip
    dino = _Dino(like)
    net = dino.net
    large = net.input("large", ("batch", LARGE, 3, size, size))
    small = net.input("small", ("batch", crops, 3, small_size, small_size))
    data = {
        "student.large": dino.embedded("student.large", large, size, size, patch),
        "student.small": dino.embedded("student.small", small, small_size, size, patch),
        "teacher.large": dino.embedded("teacher.large", large, size, size, patch),
    }
    for number in range(layers):
        data = {name: dino.part(f"layer{number}", name, made) for name, made in data.items()}
    with net.scope("head"):
        scores = {name: dino.head(name, made, targets, crops) for name, made in data.items()}
        student = net.node("Concat", "student", [scores["student.large"], scores["student.small"]], axis=1)
        loss = _compared(net, student, scores["teacher.large"], LARGE + crops)
    net.output("loss", loss, ("batch",), loss="mean")
    return net


class _Dino:
    def __init__(self, like: Layer) -> None:
        self.net = Network("dino")
        self._like = like

    def part(self, name: str, whose: str, data: str) -> str:
        """A layer of student or teacher; both uses of the student share its weights."""
        self._own(whose)
        with self.net.scope(name), self.net.scope(whose, weights=NAMES[whose]):
            return layer(self.net, "", self._like, data)

    def embedded(self, whose: str, crops: str, size: int, table_size: int, patch: int) -> str:
        """All crops as one batch of patches, a class token first, positions resized to the crop."""
        net, width = self.net, self._like.width
        self._own(whose)
        with net.scope("embedding"), net.scope(whose, weights=NAMES[whose]):
            image = net.node("Reshape", "crops", [crops, net.constant([-1, 3, size, size])])
            data = patches(net, image, patch, width)
            token = net.weight("class", (1, 1, width), ZEROS)
            batch = net.node("Shape", "class.batch", [data], start=0, end=1)
            shape = net.node("Concat", "class.shape", [batch, net.constant([1, width])], axis=0)
            data = net.node("Concat", "class.add", [net.node("Expand", "class.expand", [token, shape]), data], axis=1)
            return net.node("Add", "positions.add", [data, self._positions(size // patch, table_size // patch)])

    def _positions(self, field: int, table: int) -> str:
        net, width = self.net, self._like.width
        places = net.weight("positions", (1, 1 + table * table, width), SPREAD)
        if field == table:
            return places
        first, grid = net.split("Split", "positions.split", [places, net.constant([1, table * table])], 2, axis=1)
        grid = net.node("Transpose", "positions.turn", [grid], perm=[0, 2, 1])
        grid = net.node("Reshape", "positions.field", [grid, net.constant([1, width, table, table])])
        sizes = net.constant([1, width, field, field])
        grid = net.node("Resize", "positions.resize", [grid, "", "", sizes], mode="cubic", cubic_coeff_a=-0.75)
        grid = net.node("Reshape", "positions.flat", [grid, net.constant([1, width, field * field])])
        grid = net.node("Transpose", "positions.back", [grid], perm=[0, 2, 1])
        return net.node("Concat", "positions.all", [first, grid], axis=1)

    def head(self, whose: str, data: str, targets: int, crops: int) -> str:
        """Scores [batch, crops, targets] of the class token through three dense layers, unit length and a last one."""
        net, width = self.net, self._like.width
        count = crops if whose.endswith("small") else LARGE
        self._own(whose)
        with net.scope(whose, weights=NAMES[whose]):
            data = layer_norm(net, "norm", data, width, epsilon=EPSILON)
            data = net.node("Gather", "first", [data, net.constant(0)], axis=1)
            for name, widths in (("in", (width, HIDDEN)), ("middle", (HIDDEN, HIDDEN))):
                data = activated(net, self._like, dense(net, name, data, widths, spread=0.02), f"{name}.gelu")
            data = dense(net, "neck", data, (HIDDEN, NECK), spread=0.02)
            data = net.node("LpNormalization", "unit", [data], axis=-1, p=2)
            data = dense(net, "targets", data, (NECK, targets), bias=False)
            return net.node("Reshape", "crops", [data, net.constant([-1, count, targets])])

    def _own(self, whose: str) -> None:
        """The teacher's weights take no gradient."""
        self.net.frozen = NAMES[whose] == "teacher"


def _compared(net: Network, student: str, teacher: str, crops: int) -> str:
    """Mean over the pairs of different crops of the teacher's cross-entropy with the student: [batch]."""
    net.frozen = False
    heat = net.node("Div", "student.heat", [student, net.constant(STUDENT_HEAT, "float32")])
    logs = net.node("LogSoftmax", "student.logs", [heat], axis=-1)
    heat = net.node("Div", "teacher.heat", [teacher, net.constant(TEACHER_HEAT, "float32")])
    wanted = net.node("Softmax", "teacher.softmax", [heat], axis=-1)
    turned = net.node("Transpose", "logs.turn", [logs], perm=[0, 2, 1])
    pairs = net.node("MatMul", "pairs", [wanted, turned])
    other = net.constant(1 - np.eye(LARGE, crops))
    counted = net.node("Mul", "pairs.other", [pairs, net.node("Cast", "other", [other], to=1)])
    total = net.node("ReduceSum", "pairs.sum", [counted, net.constant([1, 2])], keepdims=0)
    return net.node("Mul", "loss.mean", [total, net.constant(-1 / (LARGE * (crops - 1)), "float32")])
