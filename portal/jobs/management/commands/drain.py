"""`manage.py drain`: workers take no new jobs, and what they run is saved and handed back; waits until none runs."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.jobs import workers
from portal.jobs.models import Attempt
from portal.jobs.states import AttemptState
from portal.tenancy import context

OPEN = (AttemptState.DISPATCHED, AttemptState.RUNNING)


class Command(BaseCommand):
    help = "Lets workers take no new jobs and hand back those they run; --undo lets them take jobs again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--undo", action="store_true", help="take jobs again")
        parser.add_argument("--within", type=float, default=60.0, help="seconds to wait until nothing runs")

    def handle(self, *args: Any, **options: Any) -> None:
        count = workers.drain(draining=not options["undo"])
        if options["undo"]:
            self.stdout.write(f"{count} workers take jobs again.")
            return
        end = time.monotonic() + options["within"]
        while left := _open():
            if time.monotonic() > end:
                raise CommandError(f"{left} jobs still run: try again, or stop Podium; their leases end by themselves.")
            time.sleep(0.5)
        self.stdout.write(f"{count} workers are drained: nothing runs, and jobs wait. --undo takes them up again.")


def _open() -> int:
    with context(role="system"):
        return Attempt.objects.filter(state__in=OPEN).count()
