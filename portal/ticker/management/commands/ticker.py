"""`manage.py ticker`: runs until it is told to stop."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from portal.ticker.rounds import call_due, rounds


class Command(BaseCommand):
    """Look for rows that are due, over and over."""

    help = "Hands out jobs, takes back lost ones, ends what is due. Any number may run."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        all_rounds = rounds()
        self.stdout.write("ticking")
        wait = 0.0
        while not stop.wait(wait):
            wait = call_due(all_rounds)
