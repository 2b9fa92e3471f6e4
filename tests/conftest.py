"""What every test may rely on: a private, real PostgreSQL and Valkey, and guards against testing anything less."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import stack as stacks
from tests.services import Services

SERVICES = Services()
TASKS_RUN_HERE: list[str] = []
HERE = Path(__file__).parent
NEEDS_SERVICES = {"portal", "workers", "security"}
FREE_OF_DJANGO = {"simulator", "bench", "launcher", "client", "e2e"}


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings now, so that pytest-django finds Django configured with our servers."""
    if _all_free_of_django(config):
        return
    os.environ.update(SERVICES.environment(), DJANGO_SETTINGS_MODULE="portal.settings")
    from celery import signals
    from django.conf import settings

    _ = settings.DATABASES
    signals.task_prerun.connect(_note_task, weak=False)


def _all_free_of_django(config: pytest.Config) -> bool:
    """Whether only folders were asked for that know no platform: the engine is tested without the portal."""
    asked = [Path(config.invocation_params.dir, argument.split("::")[0]).resolve() for argument in config.args]
    return all(any(path.is_relative_to(HERE / folder) for folder in FREE_OF_DJANGO) for path in asked)


def pytest_unconfigure(config: pytest.Config) -> None:
    SERVICES.stop()


@pytest.fixture(scope="session")
def services() -> Services:
    """The private PostgreSQL and Valkey, running. The migrated database is as `./podium up` makes it."""
    SERVICES.start()
    return SERVICES


@pytest.fixture(autouse=True)
def _services_where_needed(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("e2e") is not None:
        return  # has a whole stack of its own
    if any(request.path.is_relative_to(HERE / folder) for folder in NEEDS_SERVICES):
        request.getfixturevalue("services")


@pytest.fixture(scope="session")
def stack() -> Iterator[stacks.Stack]:
    """`./podium up` in a folder of its own, deleted at the end; or the running one that PODIUM_TEST_STACK names."""
    given = os.environ.get("PODIUM_TEST_STACK")
    running = stacks.running_in(Path(given)) if given else stacks.start()
    yield running
    if not given:
        running.stop()


@pytest.fixture(scope="session")
def django_db_setup(services: Services) -> Iterator[None]:
    """pytest-django's hook. The owner role made and migrated our database, not the role the tests run as.

    After a test with real transactions the database is made anew from its template: Django would TRUNCATE as the role
    under test, which owns nothing, and the catalogue would be lost.
    """
    from django.db import connections
    from django.test import TransactionTestCase

    vendors = {alias: connections[alias].vendor for alias in connections}
    if set(vendors.values()) != {"postgresql"}:
        pytest.exit(f"the tests need PostgreSQL, the settings name {vendors}", returncode=3)

    def restore(self: TransactionTestCase) -> None:
        connections.close_all()
        services.restore()

    original = TransactionTestCase._fixture_teardown
    TransactionTestCase._fixture_teardown = restore
    yield
    TransactionTestCase._fixture_teardown = original


def _note_task(sender: object = None, **_: object) -> None:
    TASKS_RUN_HERE.append(getattr(sender, "name", str(sender)))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the session when a Celery task ran inside the test process: then no broker and no worker were tested."""
    if "celery" not in sys.modules:
        return
    from celery import current_app

    if current_app.conf.task_always_eager:
        TASKS_RUN_HERE.append("task_always_eager is set")
    if TASKS_RUN_HERE:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TASKS_RUN_HERE:
        terminalreporter.section("tasks ran inside the test process", red=True)
        terminalreporter.line(", ".join(sorted(set(TASKS_RUN_HERE))))
