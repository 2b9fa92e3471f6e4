"""ONNX's own node tests against our table: what is supported must pass, and what does not is listed with its reason."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import jax
import numpy as np
import onnx
import pytest

from simulator.errors import SimulatorError
from simulator.frontends.limits import DEFAULT_LIMITS
from simulator.frontends.onnx.call import Context
from simulator.frontends.onnx.importer import read
from simulator.frontends.onnx.interpreter import run_graph
from simulator.frontends.onnx.planning import plan_model, refuse_unsupported
from simulator.frontends.onnx.static import static_names
from simulator.program import Mode

UNSUPPORTED = {"model.unsupported_operators", "model.unsupported_type", "model.opset"}
# supported operators whose node test does not pass, and why
GAPS = {
    r"test_reduce_(max|min)_empty_set": "the largest of nothing has no size on a device",
    r"test_resize_tf_crop_and_resize": "the mode is refused by name",
    r"test_ai_onnx_ml_tree_ensemble_set_membership": "membership branches are refused by name",
    r"test_loop11": "slices by the number of the trip, whose size a compiler cannot know",
    r"test_training_dropout(_mask|_default|_default_mask)?$": "random: only a training run drops",
}
LEAST_PASSING = 940
QUICK = re.compile(
    r"test_(add|div_uint8|pow_types_int|clip_example|cast_FLOAT_to_INT32|where_example|softmax_axis_1|logsoftmax_axis_2|"
    r"conv_with_strides_padding|convtranspose_output_shape|maxpool_2d_ceil|maxpool_with_argmax_2d_precomputed_pads|"
    r"averagepool_2d_same_lower|averagepool_2d_ceil|gather_negative_indices|gathernd_example_int32_batch_dim1|"
    r"scatter_elements_with_negative_indices|scatternd_add|slice_neg_steps|edge_pad|split_variable_parts_1d_opset18|"
    r"reshape_zero_and_negative_dim|lstm_with_peepholes|gru_seq_length|rnn_seq_length|batchnorm_epsilon|"
    r"layer_normalization_2d_axis1|group_normalization_epsilon|instancenorm_epsilon|lrn|matmul_3d|gemm_all_attributes|"
    r"einsum_batch_matmul|matmulinteger|qlinearconv|qlinearmatmul_3D_int8_float32|quantizelinear_axis|dequantizelinear_blocked|dynamicquantizelinear|"
    r"resize_upsample_scales_cubic|resize_downsample_scales_linear_antialias|resize_tf_nothing|topk_smallest|"
    r"reduce_l2_keep_dims_example|cumsum_2d_axis_1|argmax_keepdims_example_select_last_index|if|trilu_pos|depthtospace_crd_mode|"
    r"nllloss_NCd1_weight_ii|sce_mean_weight_ii_3d|ai_onnx_ml_tree_ensemble_single_tree|bitshift_left_uint8|mod_mixed_sign_int32)$"
)


@cache
def cases() -> dict[str, Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None) if "_expanded" not in case.name}


def outcome(case: Any) -> str:
    """ "pass", "unsupported", or what went wrong."""
    try:
        for inputs, expected in case.data_sets:
            _compare(case, inputs, expected)
    except SimulatorError as error:
        return "unsupported" if error.code in UNSUPPORTED else f"{error.code}: {error.message}"
    except (AssertionError, TypeError, AttributeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "pass"


def _array(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _compare(case: Any, inputs: Any, expected: Any) -> None:
    given = {i.name: _array(v) for i, v in zip(case.model.graph.input, inputs, strict=False)}
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    # shapes must be constants here: a device compiles for them
    for name in static_names(read(case.model.SerializeToString()).model.graph):
        if isinstance(given.get(name), np.ndarray | np.generic):
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(given[name]), name))
    checked = read(model.SerializeToString())
    refuse_unsupported(checked.model.graph)
    plan = plan_model(checked.model, checked.opsets, DEFAULT_LIMITS)
    weights = {key: load() for key, load in plan.loaders.items()}
    arrays = {port.name: given[port.name] for port in checked.inputs}

    def run(weights: Any, arrays: Any) -> Any:
        return run_graph(plan.graph, arrays, weights, Context(Mode(), DEFAULT_LIMITS))

    for found, wanted in zip(jax.jit(run)(weights, arrays), expected, strict=True):
        _agree(np.asarray(found), np.asarray(_array(wanted)), case)


def _agree(found: Any, wanted: Any, case: Any) -> None:
    assert found.shape == wanted.shape
    if found.dtype.kind != wanted.dtype.kind or wanted.dtype.kind not in "biu":
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_allclose(found, wanted, rtol=max(case.rtol, 1e-3), atol=max(case.atol, 1e-5))


def _quick() -> Iterator[str]:
    return (name for name in cases() if QUICK.match(name))


def test_a_cross_section_of_node_tests_passes() -> None:
    found = {name: outcome(cases()[name]) for name in _quick()}
    assert len(found) >= 45
    assert {name: result for name, result in found.items() if result != "pass"} == {}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_supported_operators_pass_their_node_tests() -> None:
    found = {name: outcome(case) for name, case in cases().items()}
    passing = [name for name, result in found.items() if result == "pass"]
    wrong = {
        name: result[:300]
        for name, result in found.items()
        if result not in ("pass", "unsupported") and not any(re.match(gap, name) for gap in GAPS)
    }
    assert wrong == {}
    assert len(passing) >= LEAST_PASSING
