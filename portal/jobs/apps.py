"""Registers the jobs app: jobs, their attempts, events and artefacts, estimates, and the workers that do them."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """At start, tells other parts what they ask of jobs: events of a topic, owners of occupied IPUs, live workers."""

    name = "portal.jobs"
    label = "jobs"

    def ready(self) -> None:
        from portal.health import register_check
        from portal.jobs import slices, topics, workers
        from portal.pods.owners import register_owner

        topics.register()
        register_owner("job", slices.own)
        register_check("worker", workers.wrong)
