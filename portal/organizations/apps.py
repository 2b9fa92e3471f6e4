"""Registers the organizations app and listens for people signing up."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    name = "portal.organizations"
    label = "organizations"

    def ready(self) -> None:
        from portal.live import register_topic
        from portal.organizations import signup
        from portal.organizations.access import may_watch_project

        signup.listen()
        register_topic("project", authorise=may_watch_project)
