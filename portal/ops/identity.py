"""Which user the database server runs as, and where that user can reach files. PostgreSQL refuses to run as root."""

import os
import pwd
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portal.ops.errors import OpsError

# In a range that distributions leave free, and below 65536 so that rootless containers can map it. Not `nobody`:
# other services and the jail of uploaded models use that one.
FIRST_UID = 60432
OUTSIDE_FOLDERS = (Path("/var/lib/podium"), Path("/var/tmp/podium"))  # noqa: S108  root's own folder below it, 0711


@dataclass(frozen=True)
class Identity:
    """A user to run a server as. `uid` None means: whoever runs the launcher."""

    uid: int | None = None

    def popen_arguments(self) -> dict[str, Any]:
        """What `subprocess` needs to start a child as this user."""
        return {} if self.uid is None else {"user": self.uid, "group": self.uid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give a whole tree to this user."""
        if self.uid is None:
            return
        os.chown(path, self.uid, self.uid)
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                os.chown(Path(folder) / name, self.uid, self.uid, follow_symlinks=False)

    def can_run(self, program: Path) -> bool:
        """Whether this user can execute `program`: a folder above it may be closed."""
        try:
            done = subprocess.run(
                [program, "--version"], capture_output=True, cwd="/", check=False, **self.popen_arguments()
            )
        except OSError:
            return False
        return done.returncode == 0

    def can_reach(self, folder: Path) -> bool:
        """Whether this user may pass through every folder down to `folder`."""
        if self.uid is None:
            return True
        return self._passes(folder.resolve())

    def _passes(self, folder: Path) -> bool:
        try:
            return (
                subprocess.run(
                    ["/bin/sh", "-c", 'cd "$0"', folder],
                    capture_output=True,
                    cwd="/",
                    check=False,
                    **self.popen_arguments(),
                ).returncode
                == 0
            )
        except OSError:
            return False


def server_identity(existing: Path | None = None) -> Identity:
    """As root, a uid of the server's own (the owner of `existing` data when there is some); otherwise ourselves."""
    if os.geteuid() != 0:
        if not _taken(os.geteuid()):
            raise OpsError(
                "identity.no_name",
                f"The user number {os.geteuid()} has no name on this system and PostgreSQL insists on one: "
                "add it to /etc/passwd, or set DATABASE_URL to a PostgreSQL of your own.",
            )
        return Identity()
    if existing is not None and existing.exists() and existing.stat().st_uid != 0:
        return Identity(existing.stat().st_uid)
    uid = next(uid for uid in range(FIRST_UID, FIRST_UID + 1000) if not _taken(uid))
    identity = Identity(uid)
    if not identity.can_run(Path("/bin/true")):
        raise OpsError(
            "identity.cannot_change_user",
            "PostgreSQL refuses to run as root and this system does not let root become another user: "
            "run ./podium as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own.",
        )
    return identity


def initial_identity(identity: Identity) -> Identity:
    """The user for initdb, which insists on one with a name: `nobody` stands in, and the files are given away after."""
    if identity.uid is None:
        return identity
    for name in ("nobody", "daemon"):
        try:
            return Identity(pwd.getpwnam(name).pw_uid)
        except KeyError:
            continue
    raise OpsError(
        "identity.no_nobody",
        "This system has no user named nobody, which PostgreSQL needs to be set up by root: "
        "run ./podium as an ordinary user, or set DATABASE_URL.",
    )


def outside_folder(name: str) -> Path:
    """A new folder that other users can reach, for when the checkout lies below a closed one."""
    for base in OUTSIDE_FOLDERS:
        try:
            base.mkdir(mode=0o711, parents=True, exist_ok=True)
            if base.is_symlink() or base.stat().st_uid != os.geteuid():
                continue
            base.chmod(0o711)
            folder = base / f"{name}-{secrets.token_hex(6)}"
            folder.mkdir()
            folder.chmod(0o711)  # whatever the umask
        except OSError:
            continue
        return folder
    raise OpsError(
        "identity.no_reachable_folder",
        "The checkout lies below a folder closed to other users and /var/lib/podium cannot be written: "
        "move the checkout, or set PODIUM_HOME to a folder that other users can enter.",
    )


def shared_copy(source: Path, name: str, parts: tuple[str, ...]) -> Path:
    """A copy of programs where the server's user can reach them, made once and shared by every checkout."""
    for base in OUTSIDE_FOLDERS:
        if (base / name).is_dir() and not base.is_symlink() and base.stat().st_uid == os.geteuid():
            return base / name
    fresh = outside_folder(name)
    for part in parts:
        shutil.copytree(source / part, fresh / part, symlinks=True)
    _open_to_all(fresh)  # a strict umask may have closed the originals, and closes what is made here
    final = fresh.parent / name
    try:
        fresh.rename(final)
    except OSError:  # another checkout was faster
        shutil.rmtree(fresh, ignore_errors=True)
    return final


def _open_to_all(tree: Path) -> None:
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _taken(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
