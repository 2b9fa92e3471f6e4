"""Registers the benchmarks app, which judges and ranks finished jobs."""

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    """At start, tells jobs how to judge eligibility, and listens for their ends. Boards are public."""

    name = "portal.benchmarks"
    label = "benchmarks"

    def ready(self) -> None:
        from portal.benchmarks import publishing
        from portal.benchmarks.suites import by_slug
        from portal.live import register_topic

        publishing.listen()
        register_topic("board", authorise=lambda actor, slug: by_slug(slug) is not None)
