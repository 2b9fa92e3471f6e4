"""`manage.py load_catalogue`: one pod of each system up to an IPU-POD256. Running it again changes nothing."""

from typing import Any

from django.core.management.base import BaseCommand

import simulator
from portal import tenancy
from portal.pods.models import Pod

LARGEST = 256  # IPUs that people share; larger systems can be simulated and compared, not reserved


class Command(BaseCommand):
    help = "Makes one shared pod of each system, or brings its name and size up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        with tenancy.context(role="system"):
            shared = [system for system in simulator.systems() if system.ipus <= LARGEST]
            for system in shared:
                facts = system.to_dict()
                Pod.objects.update_or_create(
                    slug=facts["id"],
                    defaults={"name": facts["name"], "system": facts["id"], "ipus": facts["ipus"]},
                )
        self.stdout.write(f"{len(shared)} systems, one pod each.")
