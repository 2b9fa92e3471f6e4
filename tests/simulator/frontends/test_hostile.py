"""Every hostile file gets its expected answer quickly and without the memory that it asks for."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulator.onnx_models import SHARED, needs_shared

Answers = tuple[dict[str, tuple[str | None, str, float]], int]  # name -> code, message, seconds; and the peak in bytes
SECONDS = 60
BYTES = 600 << 20  # of all files inspected one after another in one process, JAX included
MARKER = Path("/tmp/HOSTILE_PICKLE_RAN")

# file name up to its first dot or space -> code of the refusal, or None for a summary
EXPECTED: dict[str, str | None] = {
    "00_control_good": None, "01_empty": "model.empty_file", "03_trailing_garbage": "model.damaged",
    "04_wrong_magic_png": "model.not_onnx", "05_html_error_page": "model.not_onnx",
    "07_claims_2GB_field": "model.damaged",
    "08_varint_overlong": "model.damaged", "09_text_proto": "model.not_onnx", "11_gzip_of_model": "model.not_onnx",
    "12_gzip_bomb": "model.not_onnx", "13_no_graph": "model.empty_graph", "14_ir_only": "model.no_graph",
    "21_opset_0": "model.opset", "22_opset_1_ancient": None,
    "28_recursive_functions": "model.recursive_function",
    "29_function_bomb_2pow40": "model.too_large", "32_missing_initialiser": "model.undefined_tensor",
    "33_output_never_produced": "model.undefined_output", "34_duplicate_tensor_names": "model.duplicate_tensor",
    "35_duplicate_node_names": None, "36_shape_mismatch": "model.shape_mismatch", "37_declared_output_shape_lies": None,
    "39_dim_overflow_int64": "model.too_large", "40_dynamic_everything": None, "41_no_shape_info": "model.needs_shapes",
    "42_zero_dim": "model.zero_dim", "43_wrong_arity": "model.invalid_node", "44_bad_attr_type": "model.invalid_node",
    "46_conv_group_zero": "model.invalid_node", "52_raw_data_short": "model.bad_tensor",
    "53_dims_claim_4TB": "model.too_large", "54_two_data_fields": "model.bad_tensor",
    "60_constantofshape_1e12": "model.too_large", "61_expand_1e12": "model.too_large",
    "62_tile_1e12": "model.too_large",
    "63_range_1e12": "model.too_large", "71_if_nested_30": "model.too_large", "74_chain_50000_nodes": "model.too_large",
    "75_fan_out_20000_outputs": "model.too_large", "76_einsum_bomb": "model.too_large",
    "77_regex_bomb": "model.unsupported_type", "81_xss_in_names": None, "82_unicode_names": None,
    "83_long_name_100k": None, "84_csv_formula_name": None, "85_proto_dim_names": None,
    "90_ext_traversal": "model.external_data_unsafe", "91_ext_absolute": "model.external_data_unsafe",
    "92_ext_dev_zero": "model.external_data_unsafe", "93_ext_url": "model.external_data_unsafe",
    "94_ext_missing": "model.external_data_missing", "95_ext_backslash": "model.external_data_unsafe",
    "97_ext_negative_length": "model.bad_tensor", "98_ext_self": "model.external_data_unsafe",
    "99_ext_symlink": "model.external_data_missing", "A0_ext_nul": "model.external_data_unsafe",
    "B1_zip_bomb": "model.not_onnx", "B2_npz_bomb": "model.not_onnx", "B3_npy_object_pickle": "model.not_onnx",
    "B5_torch_zip_pickle": "model.not_onnx", "B6_exported_program": "model.not_onnx",
    "B9_safetensors_overlap": "model.not_onnx", "C0_stablehlo_garbage": "model.not_onnx",
    "C1_stablehlo_text_bomb": "model.not_onnx", "C3_stablehlo_while_forever": "model.not_onnx",
    "C4_stablehlo_dynamic": "model.not_onnx", "C6_tflite": "model.not_onnx", "C7_script": "model.not_onnx",
    "C8_pt_named_onnx": "model.not_onnx", "D0": None,
}  # fmt: skip

SCRIPT = """
import json, sys, time
from simulator import SimulatorError, inspect
answers = {}
for path in sys.argv[1:]:
    began = time.monotonic()
    try:
        inspect(path); code, message = None, ""
    except SimulatorError as error:
        code, message = error.code, error.message
    except BaseException as error:
        code, message = "crash", repr(error)
    answers[path] = (code, message, time.monotonic() - began)
# not getrusage: its peak is inherited from whoever started this process
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([answers, int(peak.split()[1]) * 1024]))
"""


@pytest.fixture(scope="module")
def answers() -> Answers:
    files = sorted(str(p) for p in (SHARED / "hostile").iterdir() if p.name != "MANIFEST.tsv")
    MARKER.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *files], capture_output=True, text=True, check=True, timeout=SECONDS * 3,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    found, peak = json.loads(done.stdout)
    return {Path(path).name: tuple(answer) for path, answer in found.items()}, peak


def _key(name: str) -> str:
    return name.split(".")[0].split(" ")[0]


@needs_shared
def test_every_file_of_the_manifest_is_judged(answers: Answers) -> None:
    found, _ = answers
    with (SHARED / "hostile" / "MANIFEST.tsv").open() as file:
        listed = {_key(row["file"]) for row in csv.DictReader(file, delimiter="\t")}
    assert listed <= {_key(name) for name in found} == set(EXPECTED)


@needs_shared
def test_every_file_gets_its_answer(answers: Answers) -> None:
    found, _ = answers
    wrong = {name: answer for name, answer in found.items() if answer[0] != EXPECTED[_key(name)]}
    assert not wrong


@needs_shared
def test_answers_are_quick_small_and_open_no_pickle(
    answers: Answers,
) -> None:
    found, peak = answers
    assert {name: seconds for name, (_, _, seconds) in found.items() if seconds > 15} == {}
    assert peak < BYTES
    assert not MARKER.exists()


@needs_shared
def test_refusals_say_what_was_found(answers: Answers) -> None:
    found, _ = answers
    words = {
        "04_wrong_magic_png": "PNG", "05_html_error_page": "download", "11_gzip_of_model": "gunzip",
        "32_missing_initialiser": "w_missing", "36_shape_mismatch": "[1, 63] and [64, 64]",
        "52_raw_data_short": "16384",
        "21_opset_0": "opsets 1 to", "94_ext_missing": "weights.bin", "C6_tflite": "TensorFlow Lite",
        "C8_pt_named_onnx": "torch.onnx.export", "60_constantofshape_1e12": "4000000000000 bytes",
        "29_function_bomb_2pow40": "inlined node count",
    }  # fmt: skip
    for name, (_, message, _) in found.items():
        assert words.get(_key(name), "") in message
