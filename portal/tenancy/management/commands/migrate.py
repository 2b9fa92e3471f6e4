"""`manage.py migrate`, run as the owner role.

What the other roles may do with new tables, portal.ops.roles has said.
"""

from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate


class Command(DjangoMigrate):
    """Django's command with the owner's connection as its default."""

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")
