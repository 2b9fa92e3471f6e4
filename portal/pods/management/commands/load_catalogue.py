"""`manage.py load_catalogue`: one pod of each system that the simulator knows. Running it again changes nothing."""

from typing import Any

from django.core.management.base import BaseCommand

import simulator
from portal import tenancy
from portal.pods.models import Pod


class Command(BaseCommand):
    help = "Makes one shared pod of each system, or brings its name and size up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        with tenancy.context(role="system"):
            for system in simulator.systems():
                facts = system.to_dict()
                Pod.objects.update_or_create(
                    slug=facts["id"],
                    defaults={"name": facts["name"], "system": facts["id"], "ipus": facts["ipus"]},
                )
        self.stdout.write(f"{len(simulator.systems())} systems, one pod each.")
