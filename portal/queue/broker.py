"""The one Celery application and its settings: the portal only sends with it, workers consume with it (workers.app)."""

from celery import Celery
from django.conf import settings

from portal.queue.names import ROUTES

app = Celery("podium")
app.conf.update(
    broker_url=settings.REDIS_URL,
    result_backend=None,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # An attempt has its own lease and fence, so the broker need not deliver again what a dead worker held.
    task_acks_late=False,
    task_default_queue="default",
    task_routes={name: {"queue": queue} for name, queue in ROUTES.items()},
    task_publish_retry_policy={"max_retries": 2, "interval_start": 0.05, "interval_step": 0.1, "interval_max": 0.2},
    broker_connection_retry_on_startup=True,
    broker_transport_options={"socket_timeout": 5, "socket_connect_timeout": 2},
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    enable_utc=True,
    timezone="UTC",
)
