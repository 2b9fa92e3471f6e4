"""Device login: shows a code and an address, and waits until the person has approved it in a browser (RFC 8628)."""

import getpass
import socket
import time
from collections.abc import Callable
from typing import Any

from podium_client.errors import NOT_ALLOWED, PodiumError
from podium_client.printing import clean
from podium_client.transport import Transport

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
# What the commands of this program need.
SCOPES = (
    "boards:read", "jobs:read", "jobs:write", "models:read", "models:write", "organizations:read", "pods:read",
    "reservations:read",
)  # fmt: skip
SLOWER_BY = 5.0


def log_in(transport: Transport, say: Callable[[str], None]) -> str:
    """The token that a person has approved. Raises when they say no, or nothing for ten minutes."""
    name = f"podium on {socket.gethostname()} ({_user()})"[:80]
    begun = transport.post("device/begin", {"client_id": name, "scope": " ".join(SCOPES)})
    say(clean(f"Open {begun['verification_uri']} and enter the code {begun['user_code']}"))
    say(clean(f"or open {begun['verification_uri_complete']}"))
    say(f"The code is good for {begun['expires_in'] // 60} minutes. Waiting ...")
    until = time.monotonic() + float(begun["expires_in"])
    interval = float(begun["interval"])
    while time.monotonic() < until:
        time.sleep(interval)
        token, slower = _ask(transport, begun["device_code"])
        if token:
            return token
        interval += slower
    raise PodiumError("device.expired_token", "The code has expired. Run `podium login` again.", exit_code=NOT_ALLOWED)


def _ask(transport: Transport, device_code: str) -> tuple[str, float]:
    """The token, or how much longer to wait before asking again."""
    try:
        given: dict[str, Any] = transport.post("device/token", {"grant_type": GRANT, "device_code": device_code})
    except PodiumError as error:
        if error.code == "device.authorization_pending":
            return "", 0.0
        if error.code == "device.slow_down":
            return "", SLOWER_BY
        if error.code.startswith("device."):
            error.exit_code = NOT_ALLOWED
        raise
    return str(given["access_token"]), 0.0


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        return "?"
