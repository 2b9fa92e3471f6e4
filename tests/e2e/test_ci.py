"""A pipeline's view: the built wheel, freshly installed, against the running Podium; every exit code by its cause."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from portal.ops.home import CHECKOUT
from portal.ops.ports import any_free
from tests.e2e.models import classifier
from tests.e2e.people import Person, join, wait_for
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
SMALL = ["--system", "pod4", "--ipus", "1", "--batch", "8"]
ENDLESS = ["--system", "pod4", "--ipus", "1", "--train", "--dataset", "digits", "--batch", "1", "--steps", "200000"]
Podium = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`podium`, installed from the wheel into an environment that holds nothing else."""
    folder = tmp_path_factory.mktemp("client")
    source = shutil.copytree(
        CHECKOUT / "client", folder / "source", ignore=shutil.ignore_patterns("build", "*.egg-info")
    )
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source)
    (wheel,) = folder.glob("podium_client-*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run(*installer(python), wheel)
    return folder / "venv" / "bin" / "podium"


def installer(python: Path) -> list[Any]:
    own = CHECKOUT / ".venv" / "installer" / "bin" / "uv"
    uv = str(own) if own.exists() else shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", python]
    return [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]


def run(*command: Any) -> None:
    variables = {**os.environ, "UV_SYSTEM_CERTS": "true"}  # where a company's own certificates are
    done = subprocess.run([str(part) for part in command], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def person(stack: Stack) -> Person:
    return join(stack, "pipeline")


@pytest.fixture
def variables(stack: Stack, person: Person, tmp_path: Path) -> dict[str, str]:
    """A pipeline's environment: the address, the token, and nothing of this checkout."""
    return {
        "PATH": os.defpath, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8",
        "PODIUM_URL": stack.url, "PODIUM_TOKEN": person.token,
    }  # fmt: skip


@pytest.fixture
def podium(program: Path, variables: dict[str, str], tmp_path: Path) -> Podium:
    def call(*arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *arguments], env=variables | changed, cwd=tmp_path, capture_output=True, text=True, timeout=150,
            check=False,
        )  # fmt: skip

    return call


def only_json(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """stdout as the one JSON object that it must be."""
    assert done.stdout.count("\n") == 1, done.stdout
    return json.loads(done.stdout)


def test_a_training_run_succeeds_with_0_and_streams_its_log(podium: Podium, tmp_path: Path) -> None:
    model = classifier(tmp_path / "model.onnx", seed=11)
    done = podium("run", str(model), *SMALL, "--train", "--dataset", "digits", "--steps", "30", "--wait", "--json")
    assert done.returncode == 0, done.stderr
    told = only_json(done)
    assert told["exit_code"] == 0
    assert told["job"]["state"] == "succeeded"
    assert told["job"]["result"]["final_loss"] < 2.4
    assert "accepted" in done.stderr
    assert "state: running" in done.stderr
    assert "loss" in done.stderr
    report = podium("report", told["job"]["id"], "--json")
    assert only_json(report)["schema"] == "podium.report/1"
    assert "samples/s (simulated)" in podium("report", told["job"]["id"]).stdout


def test_inference_succeeds_and_the_same_bytes_are_not_sent_twice(podium: Podium, tmp_path: Path) -> None:
    model = classifier(tmp_path / "model.onnx", seed=12)
    for _ in range(2):
        done = podium("run", str(model), *SMALL, "--infer", "--steps", "2", "--wait")
        assert done.returncode == 0, done.stderr
    assert "uploading" not in done.stderr
    assert "state      succeeded" in done.stdout
    listed = only_json(podium("models", "--json"))["results"]
    assert len([row for row in listed if row["name"] == "model.onnx"]) == len({row["sha256"] for row in listed})


def test_without_wait_the_job_is_told_and_goes_on(podium: Podium, person: Person) -> None:
    done = podium("run", "zoo:mnist", *SMALL, "--infer", "--steps", "1", "--json")
    assert done.returncode == 0, done.stderr
    job_id = only_json(done)["job"]["id"]
    assert job_id in [row["id"] for row in only_json(podium("jobs", "--json"))["results"]]
    wait_for(lambda: person.api.get(f"/api/v1/jobs/{job_id}").json()["state"] == "succeeded", what="the job's end")


def test_a_cancelled_job_ends_with_1(podium: Podium, program: Path, variables: dict[str, str], person: Person) -> None:
    with subprocess.Popen(
        [program, "run", "zoo:mnist", *ENDLESS, "--wait", "--json"],
        env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as waiting:  # fmt: skip
        job_id = newest_running_job(person)
        assert podium("cancel", job_id).returncode == 0
        out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 1
    assert json.loads(out)["job"]["state"] == "cancelled"


def newest_running_job(person: Person) -> str:
    def running() -> str:
        rows = person.api.get("/api/v1/jobs").json()["results"]
        return rows[0]["id"] if rows and rows[0]["state"] == "running" else ""

    return wait_for(running, what="a running job")


@pytest.mark.parametrize(
    "content", [b"", b"\x89PNG\r\n\x1a\nnot a model", b"<html>not found</html>"], ids=["empty", "picture", "page"]
)
def test_a_file_that_is_no_model_is_bad_input_2(podium: Podium, tmp_path: Path, content: bytes) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(content)
    done = podium("run", str(model), *SMALL, "--infer", "--wait", "--json")
    assert done.returncode == 2, done.stderr
    told = only_json(done)["error"]
    assert told["code"].startswith(("model.", "upload."))
    assert len(told["detail"]) > 20


def test_settings_that_do_not_exist_are_bad_input_2(podium: Podium) -> None:
    done = podium("run", "zoo:mnist", "--infer", "--system", "pod5", "--json")
    assert done.returncode == 2
    assert "pod4" in only_json(done)["error"]["detail"]


def test_a_run_that_does_not_fit_ends_with_3_and_says_where(podium: Podium) -> None:
    done = podium(
        "run", "zoo:mnist", "--system", "pod4", "--ipus", "1", "--train", "--dataset", "digits", "--batch", "65536",
        "--steps", "1", "--wait", "--json",
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "does not fit" in done.stderr.lower() or "tile" in done.stderr.lower()


def test_a_time_out_ends_with_5_and_leaves_the_job_running(podium: Podium, person: Person) -> None:
    done = podium("run", "zoo:mnist", *ENDLESS, "--wait", "--timeout", "6")
    assert done.returncode == 5
    assert "podium cancel" in done.stderr
    job_id = newest_running_job(person)
    assert podium("cancel", job_id).returncode == 0


def test_ctrl_c_ends_with_130_and_leaves_the_job_running(
    program: Path, variables: dict[str, str], person: Person, podium: Podium
) -> None:
    with subprocess.Popen(
        [program, "run", "zoo:mnist", *ENDLESS, "--wait"],
        env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_ctrl_c,  # noqa: PLW1509  (it only sets a signal)
    ) as waiting:  # fmt: skip
        job_id = newest_running_job(person)
        try:
            waiting.send_signal(signal.SIGINT)
            _, said = waiting.communicate(timeout=30)
            state = person.api.get(f"/api/v1/jobs/{job_id}").json()["state"]
        finally:  # left running it would keep the only slot from every later test
            waiting.kill()
            cancelled = podium("cancel", job_id)
    assert (waiting.returncode, state, cancelled.returncode) == (130, "running", 0)
    assert f"podium cancel {job_id}" in said


def heed_ctrl_c() -> None:
    """As in a terminal: what a shell starts in the background is born deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_server_that_is_not_there_is_5(podium: Podium) -> None:
    done = podium("whoami", PODIUM_URL=f"http://127.0.0.1:{any_free()}")
    assert done.returncode == 5
    assert "Is the server running" in done.stderr


@pytest.mark.parametrize("token", ["", "pod_wrong"])
def test_without_a_valid_token_nothing_is_allowed_6(podium: Podium, token: str) -> None:
    done = podium("run", "zoo:mnist", *SMALL, "--infer", "--json", PODIUM_TOKEN=token)
    assert done.returncode == 6
    assert only_json(done)["error"]["status"] == 401


def test_a_token_without_the_scope_is_not_allowed_6(podium: Podium, person: Person) -> None:
    reader = person.make_token(["jobs:read", "models:read"])
    done = podium("run", "zoo:mnist", *SMALL, "--infer", "--json", PODIUM_TOKEN=reader)
    assert done.returncode == 6
    assert only_json(done)["error"]["code"] == "auth.scope_missing"


def test_out_of_credit_is_6(podium: Podium, stack: Stack) -> None:
    """A newcomer's credits go into a large slice; what is left is too little for a large run on demand."""
    spender = join(stack, "spender")
    pod = next(row for row in spender.api.get("/api/v1/pods").json() if row["system"] == "pod256")
    start = datetime.now(UTC) + timedelta(days=30, hours=3 * secrets.randbelow(2600))
    times = {"starts_at": start.isoformat(), "ends_at": (start + timedelta(hours=3)).isoformat(), "zone": "UTC"}
    booked = spender.api.post("/api/v1/reservations", json={"pod_id": pod["id"], "ipus": 256} | times)
    assert booked.status_code == 201, booked.text
    done = podium(
        "run", "zoo:mnist", "--system", "pod256", "--train", "--steps", "1000000", "--json", PODIUM_TOKEN=spender.token
    )
    assert done.returncode == 6, done.stderr
    assert only_json(done)["error"]["code"] == "credits.insufficient"


def test_login_is_kept_for_later_commands(podium: Podium, person: Person, stack: Stack, tmp_path: Path) -> None:
    nothing = {"PODIUM_URL": "", "PODIUM_TOKEN": ""}
    assert podium("whoami", **nothing, HOME=str(tmp_path / "empty")).returncode in (5, 6)
    assert podium("login", "--url", stack.url, "--token", person.token, **nothing).returncode == 0
    (kept,) = tmp_path.rglob("client.json")
    assert kept.stat().st_mode & 0o077 == 0
    assert person.email in podium("whoami", **nothing).stdout
    assert "pod16" in podium("systems", **nothing).stdout
