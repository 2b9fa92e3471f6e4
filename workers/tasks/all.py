"""Imports every task module, so that Celery knows them."""

from workers.tasks import estimate, inspect, run

__all__ = ["estimate", "inspect", "run"]
