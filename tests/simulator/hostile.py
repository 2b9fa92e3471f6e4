"""What each file of the folder of hostile uploads is answered with; for the engine, the command line and the portal."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.simulator.onnx_models import SHARED

FOLDER = SHARED / "hostile"
MANIFEST = FOLDER / "MANIFEST.tsv"
PICKLE_RAN = Path("/tmp/HOSTILE_PICKLE_RAN")  # what a pickle in there would leave behind if it were opened
SECONDS = 10
BYTES_OVER_IDLE = 1 << 30

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


def key(name: str) -> str:
    """A file's name up to its first dot or space."""
    return name.split(".")[0].split(" ")[0]


def files() -> list[Path]:
    return sorted(path for path in FOLDER.iterdir() if path != MANIFEST) if FOLDER.is_dir() else []


def listed() -> set[str]:
    """Keys of the files that the manifest names."""
    with MANIFEST.open() as file:
        return {key(row["file"]) for row in csv.DictReader(file, delimiter="\t")}
