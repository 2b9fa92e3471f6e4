"""Registers the http app, which keeps the answers of idempotent requests."""

from importlib import import_module

from django.apps import AppConfig


class HttpConfig(AppConfig):
    name = "portal.http"
    label = "http"

    def ready(self) -> None:
        # Importing it registers how tokens and sessions are described.
        import_module("portal.http.schema")
