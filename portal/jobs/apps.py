"""Registers the jobs app: jobs, their attempts, events and artefacts, estimates, and the workers that do them."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """At start, tells the live layer how to read a job's events."""

    name = "portal.jobs"
    label = "jobs"

    def ready(self) -> None:
        from portal.jobs import topics

        topics.register()
