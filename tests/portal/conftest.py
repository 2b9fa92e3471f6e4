"""People for the portal's tests. Rows are really committed: each test makes people of its own.

Nothing of Django is imported here at import time: pytest reads this before the settings are there.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.portal.people import Person


@pytest.fixture(scope="session", autouse=True)
def _static_folder() -> None:
    """`collectstatic` makes it when the server starts; whitenoise warns without it."""
    from django.conf import settings

    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)


@pytest.fixture(autouse=True)
def _database(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """The real database without a surrounding transaction: row-level security must be seen across commits."""
    from django.db import connections

    with django_db_blocker.unblock():
        yield
        connections.close_all()


@pytest.fixture
def new_person() -> "Callable[..., Person]":
    from tests.portal.people import make_person

    return make_person


@pytest.fixture
def person(new_person: "Callable[..., Person]") -> "Person":
    return new_person()


@pytest.fixture
def stranger(new_person: "Callable[..., Person]") -> "Person":
    return new_person()
