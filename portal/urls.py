"""Addresses of the portal. Each app lists its own in its api module."""

from importlib import import_module
from importlib.util import find_spec

from django.urls import include, path, re_path

from portal.http.views import unknown_path

APPS = ("accounts", "organizations", "credits", "tokens", "pods", "registry", "reservations", "jobs", "benchmarks")

api = [
    *[
        route
        for app in APPS
        if find_spec(f"portal.{app}") and find_spec(f"portal.{app}.api")
        for route in import_module(f"portal.{app}.api").routes
    ],
    re_path(r"^.*$", unknown_path),
]

urlpatterns = [
    path("api/v1/", include(api)),
    path("_allauth/", include("allauth.headless.urls")),
    path("accounts/", include("allauth.urls")),
    re_path(r"^api/.*$", unknown_path),
]
