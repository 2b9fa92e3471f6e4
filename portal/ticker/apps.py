"""Registers the ticker, which has a command and no table."""

from django.apps import AppConfig


class TickerConfig(AppConfig):
    """Installed for its management command."""

    name = "portal.ticker"
    label = "ticker"
