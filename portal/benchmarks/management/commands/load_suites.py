"""`manage.py load_suites`: brings the boards up to this version of the code."""

from typing import Any

from django.core.management.base import BaseCommand

from portal.benchmarks.loading import load


class Command(BaseCommand):
    """May be run at any time, any number of times."""

    help = "Loads benchmark suites and published results."

    def handle(self, *args: Any, **options: Any) -> None:
        suites, rows = load()
        self.stdout.write(f"{suites} suites, {rows} published rows")
