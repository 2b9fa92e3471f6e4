"""The environment variables that Podium's processes read (portal/settings.py names them). Nothing is started here."""

import os
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from portal.ops.home import Home

DROPPED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DJANGO_SETTINGS_MODULE")


@dataclass(frozen=True)
class Address:
    """Where the web server listens and what people type to reach it."""

    host: str
    port: int
    tls: bool
    public_url: str

    @property
    def local(self) -> str:
        """An address that works from this machine, for health checks."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(self.host, self.host)  # noqa: S104
        return f"http{'s' if self.tls else ''}://{f'[{host}]' if ':' in host and host[0] != '[' else host}:{self.port}"

    @property
    def url(self) -> str:
        """The address to tell people: as given, else this machine's on the network it listens to."""
        if self.public_url:
            return self.public_url.rstrip("/")
        if self.host in ("0.0.0.0", "::"):  # noqa: S104
            return f"http{'s' if self.tls else ''}://{network_address()}:{self.port}"
        return self.local

    @property
    def names(self) -> list[str]:
        """Every host name or number that a certificate should cover."""
        names = ["localhost", "127.0.0.1", "::1", network_address(), self.host, urlsplit(self.url).hostname or ""]
        return sorted({name for name in names if name not in ("", "0.0.0.0", "::")})  # noqa: S104


def network_address() -> str:
    """This machine's number on the network its default route uses; loopback when there is none. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for documentation (RFC 5737)
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def inherited() -> dict[str, str]:
    """Our own environment without what would change which Python or settings a child uses."""
    return {name: value for name, value in os.environ.items() if name not in DROPPED}


def for_services(home: Home, *, url: str, databases: dict[str, str], redis_url: str) -> dict[str, str]:
    """What the web server, the workers, the ticker and management commands get."""
    return {
        **inherited(),
        "PODIUM_HOME": str(home.path),
        "PODIUM_ENV": os.environ.get("PODIUM_ENV", "embedded"),
        "PODIUM_MAIL": os.environ.get("PODIUM_MAIL", "outbox"),
        "PODIUM_URL": url,
        "PODIUM_SECRET_KEY": os.environ.get("PODIUM_SECRET_KEY") or home.secret_key(),
        "REDIS_URL": redis_url,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "PYTHONUNBUFFERED": "1",
        **databases,
    }


def of_address(address: Address) -> dict[str, str]:
    """The public address, and every host name under which the web server answers: others are refused."""
    hosts = [f"[{name}]" if ":" in name else name for name in address.names]
    given = os.environ.get("PODIUM_ALLOWED_HOSTS", "")
    return {"PODIUM_URL": address.url, "PODIUM_ALLOWED_HOSTS": ",".join([*hosts, given])}


def without_owner(variables: dict[str, str]) -> dict[str, str]:
    """The same without the address of the role that migrates: what serves strangers cannot become it."""
    return {name: value for name, value in variables.items() if name != "DATABASE_URL"}


def bare(home: Home) -> dict[str, str]:
    """For commands that need settings but no server, such as checking migrations. The addresses lead nowhere."""
    nowhere = "postgresql://podium@127.0.0.1:9/podium"
    databases = dict.fromkeys(("DATABASE_URL", "DATABASE_APP_URL", "DATABASE_SYSTEM_URL"), nowhere)
    environment = for_services(
        home, url="http://127.0.0.1:8000", databases=databases, redis_url="redis://127.0.0.1:9/0"
    )
    return environment | {"PODIUM_ENV": "test"}
