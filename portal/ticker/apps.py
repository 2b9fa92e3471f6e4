"""Registers the ticker, which has a command and no table."""

from django.apps import AppConfig


class TickerConfig(AppConfig):
    """Installed for its management command, and to say on the readiness page whether one runs."""

    name = "portal.ticker"
    label = "ticker"

    def ready(self) -> None:
        from portal.health import register_check
        from portal.ticker.rounds import wrong

        register_check("ticker", wrong)
