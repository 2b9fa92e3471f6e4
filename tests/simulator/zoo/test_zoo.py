"""The list of built-in models: what it says of each is so, options change what they should, names are refused well."""

from __future__ import annotations

import hashlib

import onnx
import pytest

from simulator import ZOO, SimulatorError, build_zoo
from simulator.zoo.catalogue import ZooModel, build, chosen, find
from simulator.zoo.opening import LARGEST_FILE, open_zoo

# as counted by the sources, without running statistics
PUBLISHED = {
    "resnet18": 11_689_512, "resnet34": 21_797_672, "resnet50": 25_557_032, "resnet101": 44_549_160,
    "resnet152": 60_192_808, "resnext50": 25_028_904, "resnext101": 44_177_704, "mobilenet-v1": 4_231_976,
    "mobilenet-v2": 3_504_872, "mobilenet-v3-large": 5_483_032, "mobilenet-v3-small": 2_542_856,
    "efficientnet-b0": 5_288_548, "efficientnet-b4": 19_341_616, "vit-s16": 22_050_664, "vit-b16": 86_567_656,
    "vit-l16": 304_326_632, "swin-base": 87_768_224, "swin-large": 196_532_476, "bert-base": 110_106_428,
    "bert-large": 336_226_108, "bert-base-squad": 108_893_186, "bert-large-squad": 334_094_338,
    "roberta-base-squad": 124_056_578, "albert-base-squad": 11_094_530, "deberta-base": 138_603_266,
    "gpt2-small": 124_439_808, "gpt2-medium": 354_823_168, "gpt2-large": 774_030_080, "gpt2-xl": 1_557_611_200,
    "roberta-large-squad": 354_312_194,
    "distilbert-squad": 66_364_418, "clip": 151_277_313,
    "clip-text": 123_060_480, "unet": 31_030_658,
}  # fmt: skip
SMALL = [m.id for m in ZOO if 4 * m.parameters <= 20_000_000]


@pytest.mark.parametrize("model", ZOO, ids=lambda m: m.id)
def test_parameters_are_as_described(model: ZooModel) -> None:
    assert build(model, dict(model.options)).parameters == model.parameters


@pytest.mark.parametrize("name", PUBLISHED)
def test_trained_parameters_are_as_published(name: str) -> None:
    weights = build(find(name), dict(find(name).options)).weights
    statistics = sum(w.elements for key, w in weights.items() if key.endswith((".norm.mean", ".norm.var")))
    assert sum(w.elements for w in weights.values()) - statistics == PUBLISHED[name]


@pytest.mark.parametrize("model", ZOO, ids=lambda m: m.id)
def test_the_graph_is_valid_onnx_with_the_shapes_that_it_declares(model: ZooModel) -> None:
    proto = build(model, dict(model.options)).model(values=False)
    for weight in proto.graph.initializer:
        if not weight.raw_data:  # abstract: to the checker a variable of its shape
            shape = onnx.helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims)
            proto.graph.input.append(shape)
    kept = [w for w in proto.graph.initializer if w.raw_data]
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(kept)
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)


@pytest.mark.parametrize("name", SMALL)
def test_building_twice_gives_the_same_bytes(name: str) -> None:
    assert hashlib.sha256(build_zoo(name)).digest() == hashlib.sha256(build_zoo(name)).digest()


def test_bytes_hold_the_weights_that_a_program_draws() -> None:
    program, _ = open_zoo("zoo:mnist", batch=2, dims={})
    drawn = program.load_weights()
    held = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load_from_string(build_zoo("mnist")).graph.initializer}
    assert set(drawn) == set(held)
    assert all((drawn[name] == held[name]).all() for name in drawn)
    assert drawn["conv1.weight"].std() == pytest.approx(1 / 3 / 3**0.5, rel=0.1)  # uniform within 1 / sqrt(9)


def test_a_model_too_large_for_a_file_is_refused_with_what_to_do() -> None:
    large = next(m for m in ZOO if 4 * m.parameters > LARGEST_FILE)
    with pytest.raises(SimulatorError, match="by its name") as caught:
        build_zoo(large.id)
    assert caught.value.code == "model.too_large"


@pytest.mark.parametrize(
    ("name", "said"), [("zoo:nothing", "podium models"), ("zoo:resnet5", "Did you mean zoo:resnet50")]
)
def test_an_unknown_name_says_what_comes_close_and_where_the_list_is(name: str, said: str) -> None:
    with pytest.raises(SimulatorError, match=said) as caught:
        build_zoo(name)
    assert caught.value.code == "model.unknown_zoo"
    assert len(caught.value.message) < 250


def test_an_unknown_option_lists_what_there_is() -> None:
    with pytest.raises(SimulatorError, match="norm_groups") as caught:
        open_zoo("zoo:resnet50", batch=1, dims={"depth": 3})
    assert caught.value.code == "config.invalid"


def test_options_and_open_dimensions_are_told_apart() -> None:
    options, rest = chosen(find("resnet50"), {"size": 64, "batch": 3})
    assert options == {"size": 64, "norm_groups": 0}
    assert rest == {"batch": 3}


def test_the_digest_follows_the_options() -> None:
    usual, small = (open_zoo("resnet50", batch=1, dims=dims)[1] for dims in ({}, {"size": 64}))
    again = open_zoo("resnet50", batch=1, dims={})[1]
    assert usual == again != small
