"""The facade: what importing it costs, and that every name is there."""

import subprocess
import sys

import simulator


def test_importing_the_facade_imports_neither_jax_nor_onnx() -> None:
    code = "import sys, simulator; print([m for m in ('jax', 'onnx', 'django') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_systems_and_zoo_needs_no_jax() -> None:
    code = (
        "import sys, simulator; simulator.systems(); simulator.ZOO; print('jax' in sys.modules, 'onnx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_every_promised_name_is_there() -> None:
    for name in simulator.__all__:
        assert getattr(simulator, name) is not None
