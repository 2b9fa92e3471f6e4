"""Every hostile file gets its expected answer quickly and without the memory that it asks for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulator import hostile
from tests.simulator.onnx_models import needs_shared

Answers = tuple[dict[str, tuple[str | None, str, float]], int]  # name -> code, message, seconds; and the peak in bytes
BYTES = 600 << 20  # of all files inspected one after another in one process, JAX included

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
    files = [str(path) for path in hostile.files()]
    hostile.PICKLE_RAN.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *files], capture_output=True, text=True, check=True, timeout=180,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    found, peak = json.loads(done.stdout)
    return {Path(path).name: tuple(answer) for path, answer in found.items()}, peak


@needs_shared
def test_every_file_of_the_manifest_is_judged(answers: Answers) -> None:
    found, _ = answers
    assert hostile.listed() <= {hostile.key(name) for name in found} == set(hostile.EXPECTED)


@needs_shared
def test_every_file_gets_its_answer(answers: Answers) -> None:
    found, _ = answers
    wrong = {name: answer for name, answer in found.items() if answer[0] != hostile.EXPECTED[hostile.key(name)]}
    assert not wrong


@needs_shared
def test_answers_are_quick_small_and_open_no_pickle(
    answers: Answers,
) -> None:
    found, peak = answers
    assert {name: seconds for name, (_, _, seconds) in found.items() if seconds > hostile.SECONDS} == {}
    assert peak < BYTES
    assert not hostile.PICKLE_RAN.exists()


@needs_shared
def test_refusals_say_what_was_found(answers: Answers) -> None:
    found, _ = answers
    words = {
        "04_wrong_magic_png": "PNG", "05_html_error_page": "download", "11_gzip_of_model": "gunzip",
        "32_missing_initialiser": "w_missing", "36_shape_mismatch": "float32 [1, 63] and float32 [64, 64]",
        "52_raw_data_short": "16384",
        "21_opset_0": "opsets 1 to", "94_ext_missing": "weights.bin", "C6_tflite": "TensorFlow Lite",
        "C8_pt_named_onnx": "torch.onnx.export", "60_constantofshape_1e12": "4000000000000 bytes",
        "29_function_bomb_2pow40": "inlined node count",
    }  # fmt: skip
    for name, (_, message, _) in found.items():
        assert words.get(hostile.key(name), "") in message
