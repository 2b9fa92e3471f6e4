"""Registers the tenancy app, which has SQL functions and the `migrate` command but no table."""

from django.apps import AppConfig


class TenancyConfig(AppConfig):
    """Installed first, so that its `migrate` is the one that runs."""

    name = "portal.tenancy"
    label = "tenancy"
