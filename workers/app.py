"""The Celery application of the workers: the portal's own, listening to its queues. What is done is in `workers.tasks`.

Start with `celery -A workers.app worker --concurrency N`: N - 1 attempts at a time (at least one), so that a process is
left to inspect uploads and to estimate while jobs run. A worker that only listens to the run queue takes N.
"""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

import django

django.setup()

from kombu import Exchange, Queue  # noqa: E402 - Django first: the broker's settings come from it

from portal.queue import ROUTES, app  # noqa: E402
from workers import presence  # noqa: E402

RUN, QUICK = ROUTES["jobs.run_attempt"], ("default", "inspect", "estimate")

app.conf.task_queues = [Queue(name, Exchange(name), routing_key=name) for name in (RUN, *QUICK)]
app.autodiscover_tasks(["workers.tasks"], related_name="all", force=True)
presence.listen(run_queue=RUN)
