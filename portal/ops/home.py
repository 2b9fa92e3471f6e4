"""Where one installation keeps its data (PODIUM_HOME) and its secrets. It starts and stops nothing."""

import fcntl
import json
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from portal.ops.errors import OpsError

CHECKOUT = Path(__file__).resolve().parents[2]
NEEDED_BYTES = 1_500_000_000
SECRET_NAMES = ("secret_key", "postgres", "podium_owner", "podium_app", "podium_system", "valkey")


@dataclass(frozen=True)
class Home:
    """The folders and files below PODIUM_HOME."""

    path: Path

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def stamps(self) -> Path:
        return self.path / "stamps"

    @property
    def state_file(self) -> Path:
        return self.run / "state.json"

    @property
    def secret_file(self) -> Path:
        return self.path / "secret"

    def create(self) -> "Home":
        """Make the folders. As root the top is searchable, since PostgreSQL runs there as another user."""
        try:
            for folder in (self.path, self.logs, self.run, self.stamps):
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o711 if folder == self.path and os.geteuid() == 0 else 0o700)
        except OSError as error:
            raise OpsError(
                "home.not_writable",
                f"Cannot write to {self.path} ({error.strerror}): make it writable, or set PODIUM_HOME elsewhere.",
            ) from error
        return self

    def check_space(self) -> None:
        """Refuse to start on a nearly full disk, where PostgreSQL would stop half way."""
        free = shutil.disk_usage(self.path).free
        needed = int(os.environ.get("PODIUM_MIN_FREE_BYTES", NEEDED_BYTES))
        if free < needed:
            raise OpsError(
                "disk.full",
                f"Only {free / 1e9:.1f} GB are free at {self.path} and Podium wants {needed / 1e9:.1f} GB: "
                "free some space, or set PODIUM_HOME to a folder on another disk.",
            )

    def secrets(self) -> dict[str, str]:
        """The secrets of this installation, made at the first call and kept readable by the owner alone."""
        kept: dict[str, str] = {}
        if self.secret_file.exists():
            try:
                kept = json.loads(self.secret_file.read_text())
            except (ValueError, OSError) as error:
                raise OpsError(
                    "home.secret_unreadable",
                    f"{self.secret_file} cannot be read ({error}): restore it, or start over with ./podium reset.",
                ) from error
        missing = [name for name in SECRET_NAMES if name not in kept]
        if missing:
            kept.update({name: secrets.token_urlsafe(36) for name in missing})
            write_private(self.secret_file, json.dumps(kept, indent=1))
        return kept


def home_from_environment() -> Home:
    """PODIUM_HOME, by default `.podium` in the checkout."""
    given = os.environ.get("PODIUM_HOME")
    return Home(Path(given).expanduser().absolute() if given else CHECKOUT / ".podium")


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step, readable by its owner alone."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def lock(home: Home) -> IO[str] | None:
    """The lock that one running launcher holds, or None when another has it. The kernel frees it if the holder dies."""
    file = (home.run / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
