"""When Python's garbage collector may run. It frees nothing that a simulation makes and keeps until its end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without collection: a simulation allocates millions of objects that stay, and searching them takes a quarter.

    Also a decorator. Only for work of seconds: what refers to itself is freed after it.
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()
