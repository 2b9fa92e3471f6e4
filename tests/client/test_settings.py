"""Where the token is kept, and to which server it is shown."""

import stat
from pathlib import Path

import pytest

from podium_client.errors import PodiumError
from podium_client.settings import Settings, load_settings, save_settings, settings_path


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("PODIUM_URL", raising=False)
    monkeypatch.delenv("PODIUM_TOKEN", raising=False)


def test_the_file_is_for_its_owner_alone() -> None:
    path = save_settings(Settings(url="https://podium.lab", token="pod_secret"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_was_saved_is_loaded() -> None:
    save_settings(Settings(url="https://podium.lab", token="pod_secret"))
    assert load_settings() == Settings(url="https://podium.lab", token="pod_secret")


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    save_settings(Settings(url="https://podium.lab", token="pod_secret"))
    monkeypatch.setenv("PODIUM_URL", "https://other.lab/")
    monkeypatch.setenv("PODIUM_TOKEN", "pod_other")
    assert load_settings() == Settings(url="https://other.lab", token="pod_other")


def test_a_stored_token_is_not_shown_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    save_settings(Settings(url="https://podium.lab", token="pod_secret"))
    monkeypatch.setenv("PODIUM_URL", "https://evil.example")
    assert load_settings().token == ""


def test_a_broken_file_says_what_to_do() -> None:
    settings_path().parent.mkdir(parents=True)
    settings_path().write_text("{")
    with pytest.raises(PodiumError, match="podium login"):
        load_settings()
