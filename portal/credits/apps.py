"""Registers the credits app and gives each new organization its wallet."""

from typing import Any
from uuid import UUID

from django.apps import AppConfig


class CreditsConfig(AppConfig):
    name = "portal.credits"
    label = "credits"

    def ready(self) -> None:
        from portal.organizations.events import organization_created

        organization_created.connect(_open_wallet, dispatch_uid="credits.wallet")


def _open_wallet(sender: Any, *, org_id: UUID, project_id: UUID, **kwargs: Any) -> None:
    from portal.credits.services import open_wallet

    open_wallet(org_id=org_id)
