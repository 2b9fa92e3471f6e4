"""Registers the http app, which keeps the answers of idempotent requests."""

from django.apps import AppConfig


class HttpConfig(AppConfig):
    name = "portal.http"
    label = "http"
