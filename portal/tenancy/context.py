"""The only way to open tenant data: one transaction with the organizations and the person set for row-level security.

Autocommit reads outside it see no tenant row, because the settings that the policies read are gone after commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import connections, transaction

ALIASES = {"app": "default", "system": "system"}


@dataclass(frozen=True, slots=True)
class Opened:
    """What a context has opened, and the context around it."""

    user_id: UUID | None
    org_ids: tuple[UUID, ...]
    role: Literal["app", "system"]
    outer: Opened | None = None

    @property
    def alias(self) -> str:
        return ALIASES[self.role]


_opened: ContextVar[Opened | None] = ContextVar("podium_tenancy", default=None)


def current() -> Opened | None:
    """The innermost context open here, or None."""
    return _opened.get()


def current_alias() -> str:
    """Name of the database connection that rows of this context travel on."""
    opened = _opened.get()
    return opened.alias if opened else "default"


def atomic() -> AbstractContextManager[None]:
    """`transaction.atomic` on the connection of this context; verbs use it and nothing else."""
    return transaction.atomic(using=current_alias())


def on_commit(act: Callable[[], object]) -> None:
    """Run `act` once this context's transaction has committed; a failure in it is logged and stops nothing else."""
    transaction.on_commit(act, using=current_alias(), robust=True)


@contextmanager
def context(
    *, user_id: UUID | None = None, org_ids: Iterable[UUID] = (), role: Literal["app", "system"] = "app"
) -> Iterator[Opened]:
    """Open the rows of `org_ids` (and the person's own) in one transaction; what was open before is restored.

    role "app" is bound by forced row-level security; "system" (ticker, hub, scheduler, workers' reports) passes by
    explicit policies, on a connection of its own: it cannot see what an enclosing "app" context has not committed.
    """
    opened = Opened(user_id, tuple(org_ids), role, outer=_opened.get())
    with transaction.atomic(using=opened.alias):
        _apply(opened)
        token = _opened.set(opened)
        try:
            yield opened
        finally:
            _opened.reset(token)
        # SET LOCAL outlives a released savepoint, so a nested context puts the outer values back itself; after an error
        # the rollback to the savepoint has done it.
        if connections[opened.alias].savepoint_ids:
            _apply(_around(opened) or Opened(None, (), role))


def _around(opened: Opened) -> Opened | None:
    """The nearest enclosing context on the same connection."""
    outer = opened.outer
    while outer is not None and outer.role != opened.role:
        outer = outer.outer
    return outer


def _apply(opened: Opened) -> None:
    organizations = "{" + ",".join(str(org_id) for org_id in opened.org_ids) + "}" if opened.org_ids else ""
    with connections[opened.alias].cursor() as cursor:
        cursor.execute(
            "SELECT set_config('podium.org_ids', %s, true), set_config('podium.user_id', %s, true)",
            [organizations, str(opened.user_id or "")],
        )
