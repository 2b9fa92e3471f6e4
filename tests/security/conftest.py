"""The owner of one thing of each kind, and a stranger, both of the running Podium."""

import pytest

from tests.e2e import stack as stacks
from tests.e2e.people import Person, join
from tests.security.owner import Owner, settle


@pytest.fixture(scope="session")
def owner(stack: stacks.Stack, tmp_path_factory: pytest.TempPathFactory) -> Owner:
    return settle(stack, tmp_path_factory.mktemp("owner"))


@pytest.fixture(scope="session")
def stranger(stack: stacks.Stack) -> Person:
    return join(stack, "stranger")
