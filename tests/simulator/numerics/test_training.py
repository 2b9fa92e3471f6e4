"""Training is real arithmetic: it learns, and depends on seed, labels, learning rate and replicas as it should."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load
from simulator.learning.optimisers import OPTIMISERS
from simulator.numerics.data import Batch, Shuffled
from simulator.numerics.placing import Digest
from simulator.numerics.scaling import PATIENCE, LossScale
from simulator.numerics.training import Trained, train
from tests.simulator.onnx_models import model, node, normed_net, perceptron, value


def _train(data: bytes, *, replicas: int = 1, shift: int = 0, **settings: object) -> Trained:
    config = RunConfig.from_dict({"task": "train", "batch": 16, "steps": 40, "learning_rate": 0.1, **settings})
    program = load(data, name="m", batch=config.batch)
    source = None
    if shift:
        plain = _digits_of(program)
        source = Shuffled(plain[0], (plain[1] + shift) % 10, batch=config.batch, seed=config.seed)
    return train(program, config, replicas=replicas, source=source)


def _digits_of(program: object) -> tuple[dict[str, np.ndarray], np.ndarray]:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    spec = program.inputs[0]  # type: ignore[attr-defined]
    return {spec.name: (images / 16).astype(np.float32).reshape(-1, *spec.shape[1:])}, labels.astype(np.int32)


DIGITS = perceptron(64, 32, 10)


@pytest.mark.parametrize(
    ("optimiser", "rate", "precision"),
    [
        ("sgd", 0.5, "fp32"),
        ("momentum", 0.1, "fp32"),
        ("adam", 0.01, "fp32"),
        ("adamw", 0.01, "fp16"),
        ("lamb", 0.02, "fp32"),
        ("sgd", 0.5, "fp16"),
    ],
)
def test_digits_are_learnt(optimiser: str, rate: float, precision: str) -> None:
    done = _train(DIGITS, dataset="digits", steps=120, optimiser=optimiser, learning_rate=rate, precision=precision)
    losses = [loss for _, loss in done.losses]
    assert losses[0] > 2.0
    assert np.mean(losses[-10:]) < 0.75
    assert done.skipped == 0


def test_the_curve_depends_on_what_it_should() -> None:
    base = _train(DIGITS, dataset="digits").losses
    assert _train(DIGITS, dataset="digits").losses == base
    assert _train(DIGITS, dataset="digits", seed=1).losses != base
    assert _train(DIGITS, dataset="digits", learning_rate=0.2).losses != base
    assert _train(DIGITS, dataset="digits", shift=3).losses != base


def test_replicas_average_like_one_large_batch() -> None:
    together = _train(DIGITS, dataset="digits", batch=64, steps=8)
    apart = _train(DIGITS, dataset="digits", batch=16, replicas=4, steps=8)
    np.testing.assert_allclose([v for _, v in apart.losses], [v for _, v in together.losses], rtol=1e-4)
    for name, weight in together.weights.items():
        np.testing.assert_allclose(apart.weights[name], weight, rtol=1e-3, atol=1e-5)


def test_many_replicas_are_computed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _train(DIGITS, dataset="digits", batch=16, replicas=5, steps=4)
    monkeypatch.setattr("simulator.numerics.training.SAMPLES_AT_ONCE", 32)
    pieces = _train(DIGITS, dataset="digits", batch=16, replicas=5, steps=4)
    np.testing.assert_allclose([v for _, v in pieces.losses], [v for _, v in whole.losses], rtol=1e-5)


def test_running_statistics_move_towards_the_data() -> None:
    done = _train(normed_net(), dataset="digits", steps=30)
    assert not np.allclose(done.weights["mean"], 0)
    assert not np.allclose(done.weights["variance"], 1)


def test_synthetic_samples_are_learnt_by_heart() -> None:
    done = _train(perceptron(8, 64, 4), dataset="synthetic", steps=300, optimiser="adam", learning_rate=0.02)
    losses = [loss for _, loss in done.losses]
    assert np.mean(losses[-20:]) < np.mean(losses[:20]) - 0.3


def test_a_model_without_classes_is_fitted_by_squares() -> None:
    weights = {"w": np.full((3, 1), 0.5, np.float32)}
    data = model([node("MatMul", ["x", "w"], ["y"])], [value("x", ["N", 3])], [value("y", ["N", 1])], weights)
    losses = [loss for _, loss in _train(data, dataset="synthetic", steps=60).losses]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])


def test_it_stops_when_asked() -> None:
    asked = iter([False, False, False, True])
    config = RunConfig(batch=16, steps=100, dataset="digits")
    done = train(load(DIGITS, name="m", batch=16), config, should_stop=lambda: next(asked))
    assert done.stopped
    assert len(done.losses) == 3
    assert done.weights


def test_overflowing_half_precision_steps_change_nothing() -> None:
    class Huge:
        def batch(self, index: int) -> Batch:
            return Batch({"x": np.full((4, 8), 6e4, np.float32)}, np.zeros(4, np.int32))

    config = RunConfig(batch=4, steps=2, precision="fp16")
    program = load(perceptron(), name="m", batch=4)
    done = train(program, config, source=Huge())
    assert done.skipped == 2
    before = program.load_weights()
    for name, weight in done.weights.items():
        np.testing.assert_array_equal(weight, before[name].astype(np.float16))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (perceptron(64, 8, 4), "ten classes"),
        (perceptron(7, 8, 10), "not an image"),
    ],
)
def test_digits_that_do_not_fit_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(SimulatorError, match=why) as caught:
        _train(data, dataset="digits")
    assert caught.value.code == "dataset.mismatch"


def test_the_digest_of_weights_is_the_same_on_a_rerun_and_differs_with_the_seed() -> None:
    def digest(seed: int) -> str:
        found = Digest()
        found.add(_train(DIGITS, dataset="digits", steps=5, seed=seed).weights)
        return found.hexadecimal()

    assert digest(0) == digest(0) != digest(1)


def test_a_given_loss_scale_is_used_and_stays() -> None:
    """Gradients too small for float16 vanish; a fixed scale never changes."""
    tiny = {"precision": "fp16", "steps": 3, "dataset": "digits", "learning_rate": 0.1}
    plain = _train(DIGITS, loss_scale=1e-5, **tiny).weights
    scaled = _train(DIGITS, loss_scale=4096.0, **tiny).weights
    assert any((plain[name] != scaled[name]).any() for name in plain)
    found = LossScale.of(RunConfig(precision="fp16", loss_scale=4096.0))
    found.tell(False)
    assert found.value == 4096.0
    assert LossScale.of(RunConfig()).value == 1.0


def test_an_automatic_loss_scale_halves_on_overflow_and_tries_a_larger_one_later() -> None:
    found = LossScale.of(RunConfig(precision="fp16"))
    assert found.value == 1024.0
    found.tell(False)
    assert found.value == 512.0
    for _ in range(PATIENCE):
        found.tell(True)
    assert found.value == 1024.0
    again = LossScale.of(RunConfig(precision="fp16"))
    again.tell(False)
    again.restore(found.saved())
    assert (again.value, again.calm) == (1024.0, 0)


def test_lamb_takes_steps_in_proportion_to_the_weight() -> None:
    """The first step of LAMB by hand: its length is the learning rate times the length of the weight."""
    chance = np.random.default_rng(2)
    w, g = chance.normal(size=(4, 3)).astype(np.float32), chance.normal(size=(4, 3)).astype(np.float32)
    lamb, zero = OPTIMISERS["lamb"], np.zeros((4, 3), np.float32)
    found, state = lamb.rule(w, g, {"first": zero, "second": zero}, lamb.shared(np.float32(1)), 0.1, 0.0)
    step = g / (np.abs(g) + 1e-6) + 0.01 * w
    np.testing.assert_allclose(found, w - 0.1 * np.linalg.norm(w) / np.linalg.norm(step) * step, rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(found - w), 0.1 * np.linalg.norm(w), rtol=1e-5)
    np.testing.assert_allclose(state["second"], 0.001 * g * g, rtol=1e-4)
