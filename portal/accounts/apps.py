"""Registers the accounts app, and writes log-ins into the audit log."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "portal.accounts"
    label = "accounts"

    def ready(self) -> None:
        from portal.accounts import activity

        activity.listen()
