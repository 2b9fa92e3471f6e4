"""Sends rows to the connection of the open tenancy context, and migrations to the owner alone."""

from typing import Any

from portal.tenancy.context import current_alias


class TenancyRouter:
    """Django's database router: app, system or owner are three roles on one database."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return current_alias()

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return current_alias()

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"
