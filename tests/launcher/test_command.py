"""The script `podium` in a bare copy of the checkout: what it says when it cannot go on. Nothing is installed here."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from portal.ops.home import CHECKOUT

NOWHERE = "http://127.0.0.1:9/simple"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with spaces that holds the script and the requirements, and no .venv."""
    folder = tmp_path / "a check out"
    folder.mkdir()
    shutil.copy(CHECKOUT / "podium", folder)
    for file in CHECKOUT.glob("requirements*.txt"):
        shutil.copy(file, folder)
    return folder


def podium(checkout: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(checkout),
        "PIP_RETRIES": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "UV_HTTP_RETRIES": "0",
        "UV_CACHE_DIR": str(checkout / "no cache"),
        **variables,
    }
    return subprocess.run(
        [checkout / "podium", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one line it ends with; a traceback or a bare shell error would be another."""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("podium: ")
    return lines[0]


def test_alone_it_explains_itself(checkout: Path) -> None:
    done = podium(checkout)
    assert done.returncode == 0
    for command in (
        "up",
        "down",
        "status",
        "logs",
        "reset",
        "test",
        "lint",
        "simulate",
        "plan",
        "whatif",
        "compare",
        "serve",
        "validate",
    ):
        assert f"./podium {command}" in done.stdout
    assert not (checkout / ".venv").exists()


def test_it_works_through_a_link(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(checkout / "podium")
    done = subprocess.run([tmp_path / "link", "status"], capture_output=True, text=True, check=False)
    assert "Nothing is installed here yet" in done.stderr


def test_an_unknown_command_is_refused(checkout: Path) -> None:
    done = podium(checkout, "fly")
    assert done.returncode == 1
    assert "there is no command 'fly'" in done.stderr


@pytest.mark.parametrize("command", ["status", "down", "logs"])
def test_commands_about_a_running_stack_install_nothing(checkout: Path, command: str) -> None:
    done = podium(checkout, command)
    assert "./podium up" in sentence(done)
    assert not (checkout / ".venv").exists()


def test_a_full_disk(checkout: Path) -> None:
    done = podium(checkout, "up", PODIUM_MIN_FREE_MB="999999999")
    assert done.returncode == 1
    assert "free some space" in sentence(done)


def test_a_read_only_folder(checkout: Path) -> None:
    """Root may write anywhere, so as root this is tried as another user."""
    with tempfile.TemporaryDirectory() as closed:
        folder = Path(closed)
        for file in checkout.iterdir():
            shutil.copy(file, folder)
        folder.chmod(0o555)
        other: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(
            [folder / "podium", "up"],
            env={"PATH": os.defpath},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            **other,
        )
        folder.chmod(0o755)
    assert "read-only" in sentence(done)


def test_no_python(checkout: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "env", "dirname", "readlink", "cksum", "df", "awk", "mkdir", "cat", "rm", "sleep"):
        (tools / name).symlink_to(str(shutil.which(name)))
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tools / "python3").chmod(0o755)
    script = (checkout / "podium").read_text().replace(" /usr/bin/python3;", ";")
    (checkout / "podium").write_text(script)
    assert "Python 3.11 or newer" in sentence(podium(checkout, "up", PATH=str(tools)))


def test_no_network(checkout: Path) -> None:
    done = podium(checkout, "up", PIP_INDEX_URL=NOWHERE, UV_DEFAULT_INDEX=NOWHERE)
    assert done.returncode == 1
    assert "no network" in sentence(done)
    assert not (checkout / ".venv.lock").exists()


def test_a_package_that_is_not_the_recorded_one_is_refused(checkout: Path, tmp_path: Path) -> None:
    """A mirror that serves another file under the right name."""
    wheel = tmp_path / "small-1.0-py3-none-any.whl"
    built = subprocess.run(
        ["python3", "-c", f"import zipfile; zipfile.ZipFile({str(wheel)!r}, 'w').writestr('small.py', '')"], check=False
    )
    assert built.returncode == 0
    (checkout / "requirements.txt").write_text(f"small @ {wheel.as_uri()} --hash=sha256:{'0' * 64}\n")
    done = podium(checkout, "up", PIP_INDEX_URL=NOWHERE, UV_DEFAULT_INDEX=NOWHERE)
    assert done.returncode == 1
    assert "recorded hash" in sentence(done)


def test_a_dead_installation_does_not_block_the_next(checkout: Path) -> None:
    (checkout / ".venv.lock").mkdir()
    (checkout / ".venv.lock" / "pid").write_text("999999999")
    done = podium(checkout, "up", PIP_INDEX_URL=NOWHERE, UV_DEFAULT_INDEX=NOWHERE)
    assert "no network" in sentence(done)
