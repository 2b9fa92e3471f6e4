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
PASSWORDS = ("postgres", "podium_owner", "podium_app", "podium_system", "valkey")


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

    @property
    def password_file(self) -> Path:
        return self.path / "passwords"

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

    def secret_key(self) -> str:
        """The key that sessions and tokens are signed with, made at the first call."""
        if not self.secret_file.exists():
            write_private(self.secret_file, secrets.token_urlsafe(48))
        return _read(self.secret_file)

    def passwords(self) -> dict[str, str]:
        """The passwords of our own PostgreSQL and Valkey by role, made at the first call."""
        if not self.password_file.exists():
            fresh = {name: secrets.token_urlsafe(30) for name in PASSWORDS}
            write_private(self.password_file, json.dumps(fresh, indent=1))
        try:
            kept: dict[str, str] = json.loads(_read(self.password_file))
        except ValueError as error:
            raise OpsError(
                "home.passwords_unreadable",
                f"{self.password_file} is damaged: restore it, or start over with ./podium reset.",
            ) from error
        return kept


def home_from_environment() -> Home:
    """PODIUM_HOME, by default `.podium` in the checkout."""
    given = os.environ.get("PODIUM_HOME")
    return Home(Path(given).expanduser().absolute() if given else CHECKOUT / ".podium")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OpsError(
            "home.unreadable", f"{path} cannot be read: restore it, or start over with ./podium reset."
        ) from error


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
