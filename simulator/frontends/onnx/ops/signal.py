"""Sound and spectra: windows, Fourier transforms of whole signals and of frames, the mel filter bank."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from onnx import TensorProto, helper

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op

# coefficients of cos(0), cos(2 pi n / N), cos(4 pi n / N) (ONNX, HannWindow, HammingWindow, BlackmanWindow)
WINDOWS = {
    "HannWindow": (0.5, -0.5, 0.0),
    "HammingWindow": (25 / 46, -21 / 46, 0.0),
    "BlackmanWindow": (0.42, -0.5, 0.08),
}


def _window(coefficients: tuple[float, float, float]) -> Any:
    def function(call: Call, size: Any) -> Any:
        count = call.scratch(call.integers(size, "size")[0])
        period = count if call.attr("periodic", 1) else count - 1
        turns = 2 * np.pi * np.arange(count) / max(1, period)
        shape = sum(c * np.cos(i * turns) for i, c in enumerate(coefficients))
        return np.asarray(shape, helper.tensor_dtype_to_np_dtype(call.attr("output_datatype", TensorProto.FLOAT)))

    return function


for _name, _coefficients in WINDOWS.items():
    op(_name, static=(0,))(_window(_coefficients))


@op("DFT", static=(1, 2))
def dft(call: Call, x: Any, length: Any = None, axis: Any = None) -> Any:
    """[..., 1 or 2]: real, or real and imaginary parts. One-sided: only half of a spectrum that is symmetric."""
    default = -2 if call.opset >= 20 else call.attr("axis", 1)
    along = (default if axis is None else call.integers(axis, "axis")[0]) % x.ndim
    inverse, half = bool(call.attr("inverse", 0)), bool(call.attr("onesided", 0))
    own = 2 * (x.shape[along] - 1) if inverse and half else x.shape[along]
    count = call.scratch(own if length is None else call.integers(length, "length")[0])
    if inverse and half:
        return jnp.fft.irfft(_complex(call, x), count, along)[..., None].astype(x.dtype)
    return _transformed(call, x, count, along, inverse=inverse, half=half)


def _complex(call: Call, x: Any) -> Any:
    """Numbers of a signal; real ones in double precision where the file is run to the letter."""
    wide = x.astype(jnp.float64 if call.context.exact and x.shape[-1] == 1 else jnp.float32)
    return wide[..., 0] if x.shape[-1] == 1 else wide[..., 0] + 1j * wide[..., 1]


def _transformed(call: Call, x: Any, count: int, along: int, *, inverse: bool, half: bool) -> Any:
    spectrum = (jnp.fft.ifft if inverse else jnp.fft.fft)(_complex(call, x), count, along)
    if half:
        spectrum = jnp.take(spectrum, jnp.arange(count // 2 + 1), axis=along)
    return jnp.stack([spectrum.real, spectrum.imag], -1).astype(x.dtype)


@op("STFT", static=(1, 3))
def stft(call: Call, x: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    """Spectra of overlapping frames: [N, frames, frequencies, 2]."""
    hop = call.integers(step, "frame step")[0]
    size = call.integers(length, "frame length")[0] if length is not None else (x.shape[1] if window is None else None)
    size = window.shape[0] if size is None else size
    frames = 1 + (x.shape[1] - size) // max(1, hop)
    if hop < 1 or frames < 1:
        raise call.invalid(f"has no frame of {size} in steps of {hop}")
    call.claim([x.shape[0], frames, size, 2])
    places = hop * np.arange(frames)[:, None] + np.arange(size)
    cut = jnp.asarray(x)[:, places.astype(np.int32)]
    if cut.ndim == 3:  # a real signal may leave its last axis out
        cut = cut[..., None]
    if window is not None:
        cut = cut * jnp.asarray(window)[:, None]
    return _transformed(call, cut, size, 2, inverse=False, half=bool(call.attr("onesided", 1)))


@op("MelWeightMatrix", static=(0, 1, 2, 3, 4))
def mel_weights(call: Call, bins: Any, length: Any, rate: Any, low: Any, high: Any) -> Any:
    """[length / 2 + 1, bins]: triangles equally wide in mel, each from its neighbour's centre to the other's."""
    count, points = call.integers(bins, "bins")[0], call.integers(length, "length")[0]
    hertz = call.integers(rate, "sample rate")[0]
    first, last = (_mel(float(call.known(v, "edges").reshape(-1)[0])) for v in (low, high))
    rows = points // 2 + 1
    call.scratch(rows * count)
    centres = first + np.arange(count + 2) * ((last - first) / (count + 2))
    edges = np.floor((points + 1) * (700 * np.expm1(centres / 2595 * math.log(10))) / hertz).astype(int)
    at, left, middle, right = np.arange(rows)[:, None], edges[:-2], edges[1:-1], edges[2:]
    rising = np.where(middle > left, (at - left) / np.maximum(1, middle - left), 1.0) * ((at >= left) & (at <= middle))
    falling = (right - at) / np.maximum(1, right - middle) * ((at >= middle) & (at < right))
    table = np.where((at >= middle) & (at < right), falling, rising)
    return table.astype(helper.tensor_dtype_to_np_dtype(call.attr("output_datatype", TensorProto.FLOAT)))


def _mel(hertz: float) -> float:
    return 2595 * math.log1p(hertz / 700) / math.log(10)
