"""Finding a Chromium for the browser tests, and installing Debian's where that is possible."""

import os
import shutil
import subprocess
from pathlib import Path

from portal.ops.console import step
from portal.ops.errors import OpsError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_or_install() -> Path:
    """The browser to test with: PODIUM_CHROMIUM, one on PATH, else Debian's package when we may install it."""
    given = os.environ.get("PODIUM_CHROMIUM")
    if given:
        if os.access(given, os.X_OK):
            return Path(given)
        raise OpsError("browser.not_there", f"PODIUM_CHROMIUM names {given}, which cannot be run.")
    found = _on_path()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _install()
        found = _on_path()
    if found is None:
        raise OpsError(
            "browser.missing",
            "The browser test was not run: there is no Chromium and it cannot be installed from here. "
            "Install it (on Debian: sudo apt-get install chromium), or name one in PODIUM_CHROMIUM.",
        )
    return found


def _on_path() -> Path | None:
    return next((Path(path) for name in NAMES if (path := shutil.which(name))), None)


def _install() -> None:
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with step("installing Chromium from Debian, for the browser test"):
        for command in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", "chromium"]):
            subprocess.run(
                ["apt-get", *command], env=variables, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
