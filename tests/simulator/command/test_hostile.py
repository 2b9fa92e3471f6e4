"""Hostile files from the command line: the exit status, one clear sentence, in bounded time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulator import hostile
from tests.simulator.onnx_models import needs_shared

ROOT = Path(__file__).parents[3]
IDLE = 200 << 20  # what a process with JAX and ONNX has before it reads anything
QUICK = ("01_empty", "29_function_bomb_2pow40", "53_dims_claim_4TB", "60_constantofshape_1e12", "99_ext_symlink", "B5_")
# one waits for settings that inspecting does without: what its open dimensions are
ASKED = {"40_dynamic_everything": "model.needs_dims", "85_proto_dim_names": "model.needs_dims"}
SCRIPT = """
import os, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "simulator", *sys.argv[1:]])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, file=sys.stderr)
sys.exit(done.returncode)
"""


def _answer(path: Path) -> tuple[int, str | None, float, int]:
    """Exit status, code of the refusal, CPU seconds and the most memory of the processes that answered."""
    settings = ["--task", "infer", "--batch", "1", "--ipus", "1", "--json", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), *settings],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    *said, used = done.stderr.strip().split("\n")
    told = json.loads(done.stdout)
    assert "Traceback" not in done.stderr
    if "error" in told:
        assert said[-1] == f"{told['error']['message']} [{told['error']['code']}]"
    seconds, peak = used.split()
    return done.returncode, told.get("error", {}).get("code"), float(seconds), int(peak)


def _marks(path: Path) -> list[pytest.MarkDecorator]:
    return [] if path.name.startswith(QUICK) else [pytest.mark.slow]


@needs_shared
@pytest.mark.parametrize("path", [pytest.param(p, marks=_marks(p), id=hostile.key(p.name)) for p in hostile.files()])
def test_every_file_gets_its_answer(path: Path) -> None:
    hostile.PICKLE_RAN.unlink(missing_ok=True)
    status, code, seconds, peak = _answer(path)
    expected = ASKED.get(hostile.key(path.name), hostile.EXPECTED[hostile.key(path.name)])
    assert (status, code) == ((0, None) if expected is None else (2, expected))
    assert seconds < hostile.SECONDS
    assert peak < IDLE + hostile.BYTES_OVER_IDLE
    assert not hostile.PICKLE_RAN.exists()
