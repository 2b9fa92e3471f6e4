"""ONNX's own conformance tests against our executor. The list of those that pass is committed, and may only grow."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from simulator.errors import SimulatorError
from simulator.frontends.onnx.backend import PodiumBackend

PASSES = Path(__file__).with_name("onnx_backend_passes.txt")
BATCHES = 12
# what does not pass, and why; the rest of the suite must
GAPS = {
    r"test_bernoulli": "random numbers of a generator that the standard does not name",
    r"test_gradient_of_": "a gradient as an operator: training here is our own",
    r"test_image_decoder_": "no image decoder on a device",
    r"test_loop16_seq_none$": "right, but the suite takes the length of a scalar in it",
    r"test_regex_full_match_": "a pattern from an upload can take for ever",
    r"test_squeezenet$": "scores of 10^10: the compiler computes them twice, to other bits, and softmax is NaN",
}
QUICK = re.compile(
    r"test_(add|div_uint8|pow_types_int|clip_example|cast_FLOAT_to_INT32|cast_FLOAT_to_FLOAT8E4M3FN|where_example|"
    r"softmax_axis_1|logsoftmax_axis_2|conv_with_strides_padding|convtranspose_output_shape|maxpool_2d_ceil|"
    r"averagepool_2d_same_lower|averagepool_2d_ceil|gather_negative_indices|gathernd_example_int32_batch_dim1|"
    r"scatter_elements_with_negative_indices|scatternd_add|slice_neg_steps|edge_pad|split_variable_parts_1d_opset18|"
    r"reshape_zero_and_negative_dim|lstm_with_peepholes|gru_seq_length|rnn_seq_length|batchnorm_epsilon|lrn|"
    r"layer_normalization_2d_axis1|group_normalization_epsilon|instancenorm_epsilon|matmul_3d|gemm_all_attributes|"
    r"einsum_batch_matmul|matmulinteger|qlinearconv|qlinearmatmul_3D_int8_float32|quantizelinear_int4|"
    r"dequantizelinear_blocked|dynamicquantizelinear|resize_upsample_scales_cubic|resize_tf_crop_and_resize|"
    r"resize_downsample_scales_linear_antialias|topk_smallest|reduce_l2_keep_dims_example|reduce_max_empty_set|"
    r"cumsum_2d_axis_1|argmax_keepdims_example_select_last_index|trilu_pos|depthtospace_crd_mode|loop11|if_seq|"
    r"nllloss_NCd1_weight_ii|sce_mean_weight_ii_3d|ai_onnx_ml_tree_ensemble_set_membership|bitshift_left_uint8|"
    r"mod_mixed_sign_int32|attention_4d_causal|attention_3d_gqa|rotary_embedding_interleaved|training_dropout|"
    r"nonmaxsuppression_suppress_by_IOU|gridsample_bicubic|roialign_aligned_true|basic_deform_conv_with_padding|"
    r"scan9_sum|sequence_map_identity_1_sequence|strnormalizer_export_monday_casesensintive_lower|"
    r"unique_not_sorted_without_axis|linear_attention_gated|PReLU_2d_multiparam|operator_pow|shrink_hard|adam)$"
)


@cache
def suite() -> dict[str, Callable[[object], None]]:
    """Every test of the onnx package by name: of nodes, of expanded functions, and of whole models."""
    from onnx.backend.test.runner import Runner

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        items = Runner(PodiumBackend, __name__)._test_items
    return {
        name.removesuffix("_cpu"): item.func
        for group in items.values()
        for name, item in group.items()
        if name.endswith("_cpu")
    }


def listed() -> list[str]:
    return PASSES.read_text().split()


def outcome(name: str) -> str:
    """ "pass", or what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            suite()[name](None)
    except (SimulatorError, AssertionError, TypeError, AttributeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"[:300]
    return "pass"


@pytest.fixture(autouse=True)
def _models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite writes the inputs of its models to a folder."""
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))
    monkeypatch.delenv("ONNX_MODELS", raising=False)


def test_a_cross_section_passes() -> None:
    names = [name for name in suite() if QUICK.match(name)]
    assert len(names) >= 65
    assert {name: result for name in names if (result := outcome(name)) != "pass"} == {}


def test_the_list_is_whole_sorted_and_known() -> None:
    names = listed()
    assert names == sorted(set(names))
    assert len(names) >= 2000
    assert set(names) <= set(suite())
    missing = sorted(set(suite()) - set(names))
    assert [name for name in missing if not any(re.match(gap, name) for gap in GAPS)] == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_all_that_is_listed_passes(batch: int) -> None:
    failed = {name: result for name in listed()[batch::BATCHES] if (result := outcome(name)) != "pass"}
    assert failed == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_passes_is_listed() -> None:
    names = sorted(set(suite()) - set(listed()))
    assert [name for name in names if outcome(name) == "pass"] == []
