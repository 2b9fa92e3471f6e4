"""The entry of a container: one process of Podium, with a PostgreSQL and a Valkey that others run. No supervisor.

python -m portal.ops.container prepare | web | worker | ticker | health
"""

import os
import sys

from portal.ops import environment, roles, stack
from portal.ops.console import say
from portal.ops.database import bring_up_to_date, told_once
from portal.ops.environment import Address
from portal.ops.errors import OpsError
from portal.ops.home import Home, home_from_environment
from portal.ops.supervisor import Service

ADDRESS = Address("0.0.0.0", 8000, tls=False, public_url=os.environ.get("PODIUM_URL", ""))  # noqa: S104  inside its container


SERVED = ("web", "worker", "ticker")


def main(command: str) -> int:
    """Do one command. The long-lived ones replace this process."""
    if command == "health":
        return 0 if stack.web_lives(ADDRESS) else 1
    if command not in ("prepare", *SERVED):
        raise OpsError(
            "container.command", f"Say one of prepare, {', '.join(SERVED)}, health; not {command!r}.", exit_code=2
        )
    home = home_from_environment().create()
    variables = _variables(home)
    if command == "prepare":
        bring_up_to_date(home, variables)
        if told_once(home).exists():
            say(told_once(home).read_text())
            told_once(home).unlink()
        return 0
    service = _service(command, environment.without_owner(variables))
    os.execve(service.command[0], service.command, service.environment)  # noqa: S606  no return from here
    return 0


def _service(name: str, variables: dict[str, str]) -> Service:
    if name == "web":
        return stack.web(ADDRESS, None, variables)
    if name == "worker":
        return stack.worker(int(os.environ.get("PODIUM_WORKERS", "2")), variables)
    return stack.ticker(variables)


def _variables(home: Home) -> dict[str, str]:
    missing = [name for name in ("DATABASE_URL", "REDIS_URL", "PODIUM_URL") if not os.environ.get(name)]
    if missing:
        raise OpsError("container.missing", f"Set {', '.join(missing)}: docker/env.example shows how.", exit_code=2)
    databases = roles.set_up_given(os.environ["DATABASE_URL"])
    return environment.for_services(home, url=ADDRESS.url, databases=databases, redis_url=os.environ["REDIS_URL"])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
    except OpsError as error:
        print(f"podium: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
