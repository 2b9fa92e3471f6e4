"""Whose data is open right now: the tenancy context, row ids and the walls in the database. It knows no app.

The tables' base classes are in `portal.tenancy.tables`, the migration operations in `portal.tenancy.rls`.
"""

from portal.tenancy.actor import Actor, Role
from portal.tenancy.context import atomic, context, current, current_alias, on_commit
from portal.tenancy.ids import uuid7

__all__ = ["Actor", "Role", "atomic", "context", "current", "current_alias", "on_commit", "uuid7"]
