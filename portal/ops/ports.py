"""Free TCP ports on this machine. It holds none: the server that gets a port binds it a moment later."""

import contextlib
import random
import socket
import time


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on `port` now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def pick(preferred: int, host: str = "127.0.0.1", *, avoid: frozenset[int] = frozenset()) -> int:
    """`preferred` when free, else the next of twenty, else any free port of the system's choice."""
    for port in range(preferred, min(preferred + 20, 65536)):
        if port not in avoid and is_free(port, host):
            return port
    return any_free(host)


def private() -> int:
    """A free port for a server of our own, below the range from which the system numbers outgoing connections: a
    restarted server must find its port again."""
    for _ in range(50):
        port = random.randint(20000, 32000)  # noqa: S311  no secret
        if is_free(port):
            return port
    return any_free()


def any_free(host: str = "127.0.0.1") -> int:
    """A free port chosen by the system."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def accepts(port: int, host: str = "127.0.0.1", timeout: float = 1.0) -> bool:
    """Whether something answers a TCP connection on `port`."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout):
        return True
    return False


def wait_until_accepts(port: int, host: str = "127.0.0.1", seconds: float = 20.0) -> bool:
    """Poll until `port` answers, at most `seconds`."""
    end = time.monotonic() + seconds
    while not accepts(port, host):
        if time.monotonic() > end:
            return False
        time.sleep(0.03)
    return True
