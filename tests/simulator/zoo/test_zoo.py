"""The list of built-in models: what it says of each is so, options change what they should, names are refused well."""

from __future__ import annotations

import hashlib

import onnx
import pytest

from simulator import ZOO, SimulatorError, build_zoo
from simulator.zoo.catalogue import ZooModel, build, chosen, find
from simulator.zoo.opening import LARGEST_FILE, open_zoo

SMALL = [m.id for m in ZOO if 4 * m.parameters <= 20_000_000]


@pytest.mark.parametrize("model", ZOO, ids=lambda m: m.id)
def test_parameters_are_as_described(model: ZooModel) -> None:
    assert build(model, dict(model.options)).parameters == model.parameters


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


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(SimulatorError, match="zoo:mnist") as caught:
        build_zoo("zoo:nothing")
    assert caught.value.code == "model.unknown_zoo"


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
