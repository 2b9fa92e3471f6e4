"""Registers the pods app and its live topic."""

from django.apps import AppConfig


class PodsConfig(AppConfig):
    name = "portal.pods"
    label = "pods"

    def ready(self) -> None:
        from portal.live import register_topic

        # Pods and their free times are no secret among people who have signed in.
        register_topic("pod", authorise=_signed_in)


def _signed_in(actor: object, pod_id: str) -> bool:
    return actor is not None
