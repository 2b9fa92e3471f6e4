"""Finding the processes of a running stack, for tests that kill them."""

import psutil

from portal.ops import state
from portal.ops.home import Home
from tests.e2e.stack import Stack


def process_of(stack: Stack, service: str) -> psutil.Process:
    """The service's main process, as the launcher's state file names it now."""
    found = state.running(Home(stack.home))
    assert found is not None, "the stack is not running"
    return psutil.Process(found.marks()[service].pid)
