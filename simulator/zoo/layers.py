"""Layers that several families share: convolutions with their norm, dense layers, layer norms, dropout, loss heads."""

from __future__ import annotations

import math

from simulator.zoo.network import Network
from simulator.zoo.weights import ONES, ZEROS, Start


def convolution(
    net: Network,
    name: str,
    data: str,
    channels: tuple[int, int],
    *,
    kernel: int = 1,
    stride: int = 1,
    groups: int = 1,
    bias: bool = False,
) -> str:
    """A square convolution that keeps the field (but for its stride); starts as He et al. 2015 (arXiv 1502.01852)."""
    inward, outward = channels
    spread = math.sqrt(2 / (outward // groups * kernel * kernel))
    shape = (outward, inward // groups, kernel, kernel)
    inputs = [data, net.weight(f"{name}.weight", shape, Start("normal", spread))]
    if bias:
        inputs.append(net.weight(f"{name}.bias", (outward,), ZEROS))
    return net.node(
        "Conv", name, inputs,
        kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups,
    )  # fmt: skip


def batch_norm(net: Network, name: str, data: str, channels: int, *, epsilon: float = 1e-5) -> str:
    """Batch normalisation; its running mean and variance count as weights."""
    parts = (("scale", ONES), ("bias", ZEROS), ("mean", ZEROS), ("var", ONES))
    statistics = [net.weight(f"{name}.{part}", (channels,), start) for part, start in parts]
    return net.node("BatchNormalization", name, [data, *statistics], epsilon=epsilon)


def group_norm(net: Network, name: str, data: str, channels: int, groups: int, *, epsilon: float = 1e-5) -> str:
    """Normalisation of each sample over groups of channels."""
    parts = [net.weight(f"{name}.{part}", (channels,), start) for part, start in (("scale", ONES), ("bias", ZEROS))]
    return net.node("GroupNormalization", name, [data, *parts], num_groups=groups, epsilon=epsilon)


def layer_norm(net: Network, name: str, data: str, width: int, *, epsilon: float = 1e-5) -> str:
    """Normalisation over the last axis."""
    parts = [net.weight(f"{name}.{part}", (width,), start) for part, start in (("scale", ONES), ("bias", ZEROS))]
    return net.node("LayerNormalization", name, [data, *parts], axis=-1, epsilon=epsilon)


def dense(net: Network, name: str, data: str, widths: tuple[int, int], *, bias: bool = True, spread: float = 0) -> str:
    """A matrix product over the last axis, and a bias; starts normal with ``spread`` (0: by fan-in)."""
    inward, outward = widths
    start = Start("normal", spread or 1 / math.sqrt(inward))
    made = net.node("MatMul", name, [data, net.weight(f"{name}.weight", (inward, outward), start)])
    if not bias:
        return made
    return net.node("Add", f"{name}.add", [made, net.weight(f"{name}.bias", (outward,), ZEROS)])


def dropout(net: Network, name: str, data: str, percent: int) -> str:
    """Drops in training only; nothing at all for 0 percent."""
    if not percent:
        return data
    return net.node("Dropout", name, [data, net.constant(percent / 100, "float32")])


def swish(net: Network, name: str, data: str) -> str:
    """x * sigmoid(x)."""
    return net.node("Swish", name, [data])


def decomposed_swish(net: Network, name: str, data: str) -> str:
    """The same as PyTorch code writes it out: a sigmoid and a product."""
    return net.node("Mul", name, [data, net.node("Sigmoid", f"{name}.sigmoid", [data])])


def decomposed_gelu(net: Network, name: str, data: str) -> str:
    """GELU as exporters before opset 20 write it: x * (1 + erf(x / sqrt(2))) / 2, in five operators."""
    erf = net.node(
        "Erf", f"{name}.erf", [net.node("Div", f"{name}.div", [data, net.constant(math.sqrt(2), "float32")])]
    )
    wide = net.node("Add", f"{name}.add", [erf, net.constant(1.0, "float32")])
    return net.node("Mul", name, [net.node("Mul", f"{name}.mul", [data, wide]), net.constant(0.5, "float32")])


def classifier(net: Network, data: str, inward: int, classes: int, *, dropped: int = 0) -> None:
    """Mean over the field of [batch, inward, height, width] and one dense layer, which gives out ``scores``."""
    flat = net.node("Flatten", "flatten", [net.node("GlobalAveragePool", "mean", [data])])
    flat = dropout(net, "dropout", flat, dropped)
    weight = net.weight("dense.weight", (classes, inward), Start("uniform", 1 / math.sqrt(inward)))
    made = net.node("Gemm", "dense", [flat, weight, net.weight("dense.bias", (classes,), ZEROS)], transB=1)
    net.output("scores", made, ("batch", classes), loss="cross_entropy")
