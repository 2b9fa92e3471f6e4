"""Registers the organizations app and listens for people signing up."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    name = "portal.organizations"
    label = "organizations"

    def ready(self) -> None:
        from portal.organizations import signup

        signup.listen()
