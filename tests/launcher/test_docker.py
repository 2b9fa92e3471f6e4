"""The container files against the code they start: what can be checked without a container engine."""

import re
from typing import Any

import pytest
import yaml

from portal.ops import container
from portal.ops.errors import OpsError
from portal.ops.home import CHECKOUT

DOCKER = CHECKOUT / "docker"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    return read


def test_every_file_that_is_copied_exists() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert len(names) > 8
    assert [name for name in names if not (CHECKOUT / name).exists()] == []


def test_what_is_copied_is_not_left_out_of_the_build_context() -> None:
    kept = {line[1:] for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    tops = {name.split("/")[0] for line in copied for name in line.split()}
    assert tops <= kept


def test_every_variable_of_the_compose_file_is_in_the_example() -> None:
    wanted = set(re.findall(r"\$\{(\w+)", (DOCKER / "compose.yaml").read_text()))
    given = set(re.findall(r"^(\w+)=", (DOCKER / "env.example").read_text(), re.MULTILINE))
    assert wanted == given


def test_containers_of_podium_hold_no_rights_they_need_not(compose: dict[str, Any]) -> None:
    ours = {name: each for name, each in compose["services"].items() if each.get("image") == "podium"}
    assert set(ours) == {"prepare", "web", "worker", "ticker"}
    for each in ours.values():
        assert each["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in each["security_opt"]


def test_commands_of_the_compose_file_are_known(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """An unknown command is refused by name; the known ones get further, to the database that is not there."""
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path))
    for name, value in {
        "DATABASE_URL": "postgresql://x@127.0.0.1:1/x",
        "REDIS_URL": "redis://x",
        "PODIUM_URL": "http://x",
    }.items():
        monkeypatch.setenv(name, value)
    for each in compose["services"].values():
        if each.get("image") == "podium":
            with pytest.raises(OpsError, match="DATABASE_URL cannot be used"):
                container.main(each["command"][0])
    with pytest.raises(OpsError, match="Say one of"):
        container.main("fly")


def test_a_missing_variable_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path))
    for name in ("DATABASE_URL", "REDIS_URL", "PODIUM_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OpsError, match="Set DATABASE_URL, REDIS_URL, PODIUM_URL"):
        container.main("web")
