"""`podium login` without a token: the code is shown, questions are spaced, the token is stored for its owner alone."""

import json
from pathlib import Path

import pytest

from podium_client import device
from podium_client.cli import main
from tests.client.wire import problem, serve

BEGUN = {
    "device_code": "d" * 43,
    "user_code": "BCDF-GHJK",
    "verification_uri": "http://podium.lab/device",
    "verification_uri_complete": "http://podium.lab/device?code=BCDF-GHJK",
    "expires_in": 600,
    "interval": 5,
}
USER = {"id": "1", "email": "ada@example.org", "name": "Ada", "is_operator": False}


@pytest.fixture
def slept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("PODIUM_TOKEN", raising=False)
    monkeypatch.setattr(device.time, "sleep", pauses.append)
    return pauses


def answers(*outcomes):
    """A server at which a person decides: each question for the token gets the next outcome."""
    left = list(outcomes)

    def answer(request):
        if request.path.endswith("/device/begin"):
            return 200, BEGUN
        if request.path.endswith("/device/token"):
            outcome = left.pop(0)
            if outcome == "token":
                return 200, {"access_token": "pod_given", "token_type": "Bearer"}
            return 400, problem(f"device.{outcome}", error=outcome)
        known = request.headers.get("authorization") == "Bearer pod_given"
        return 200, {"user": USER if known else None, "organizations": []}

    return answer


def test_a_person_approves_in_the_browser(
    slept: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(answers("authorization_pending", "slow_down", "authorization_pending", "token")) as wire:
        assert main(["login", "--url", wire.url]) == 0
    assert slept == [5.0, 5.0, 10.0, 10.0]
    told = capsys.readouterr()
    assert "http://podium.lab/device and enter the code BCDF-GHJK" in told.err
    assert "pod_given" not in told.err + told.out
    stored = tmp_path / "podium" / "client.json"
    assert stored.stat().st_mode & 0o777 == 0o600
    assert json.loads(stored.read_text())["token"] == "pod_given"
    asked = json.loads(wire.seen[0].body)
    assert "organizations:write" not in asked["scope"]
    assert all("authorization" not in request.headers for request in wire.seen[:-1])


@pytest.mark.parametrize("outcome", ["access_denied", "expired_token"])
def test_without_approval_nothing_is_stored(slept: list[float], tmp_path: Path, outcome: str) -> None:
    with serve(answers("authorization_pending", outcome)) as wire:
        assert main(["login", "--url", wire.url]) == 6
    assert not list(tmp_path.rglob("client.json"))


def test_the_wait_has_an_end(slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 200))
    monkeypatch.setattr(device.time, "monotonic", lambda: next(clock))
    with serve(answers(*["authorization_pending"] * 10)) as wire:
        assert main(["login", "--url", wire.url]) == 6
