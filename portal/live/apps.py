"""Registers the live app."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "portal.live"
    label = "live"

    def ready(self) -> None:
        from portal.live import hints

        hints.listen()
