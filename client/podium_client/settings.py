"""Where the server is and which token it gets: from the environment, then from the file of `podium login`."""

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from podium_client.errors import BAD_INPUT, PodiumError

DEFAULT_URL = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Settings:
    """`url` without a trailing slash; `token` is empty when nobody has logged in."""

    url: str
    token: str


def settings_path() -> Path:
    """The file of `podium login`: below XDG_CONFIG_HOME, APPDATA on Windows, else ~/.config."""
    if os.environ.get("XDG_CONFIG_HOME"):
        base = Path(os.environ["XDG_CONFIG_HOME"])
    elif sys.platform == "win32" and os.environ.get("APPDATA"):
        base = Path(os.environ["APPDATA"])
    else:
        base = Path.home() / ".config"
    return base / "podium" / "client.json"


def load_settings(*, url: str | None = None, token: str | None = None) -> Settings:
    """An argument wins over PODIUM_URL and PODIUM_TOKEN, and these win over the file.

    A token from the file goes only to the server it was stored for: with another url it is not used.
    """
    stored = _read(settings_path())
    stored_url = stored.get("url", "").rstrip("/")
    chosen_url = (url or os.environ.get("PODIUM_URL") or stored_url or DEFAULT_URL).rstrip("/")
    stored_token = stored.get("token", "") if chosen_url == (stored_url or DEFAULT_URL) else ""
    return Settings(url=chosen_url, token=token or os.environ.get("PODIUM_TOKEN") or stored_token)


def save_settings(settings: Settings) -> Path:
    """Write the file readable by its owner alone, in one step, and return its path."""
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".client-")  # mkstemp makes it 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"url": settings.url, "token": settings.token}, file)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _read(path: Path) -> dict[str, str]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise PodiumError(
            "settings.unreadable", f"Cannot read {path}: {error}. Run `podium login` again.", exit_code=BAD_INPUT
        ) from error
    return {key: value for key, value in loaded.items() if isinstance(value, str)} if isinstance(loaded, dict) else {}
