"""Addresses of the portal. Each app lists its own in `routes` of its api module."""

from importlib import import_module

from django.urls import URLPattern, include, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from portal import frontend, health
from portal.http.views import unknown_path

APPS = (
    "audit",
    "accounts",
    "organizations",
    "credits",
    "tokens",
    "pods",
    "registry",
    "reservations",
    "jobs",
    "benchmarks",
)


def _routes(module: str) -> list[URLPattern]:
    return list(import_module(module).routes)


api = [
    *_routes("portal.overview"),
    *[route for app in APPS for route in _routes(f"portal.{app}.api")],
    path("openapi.json", SpectacularJSONAPIView.as_view(), name="schema"),
    re_path(r"^.*$", unknown_path),
]

urlpatterns = [
    path("livez", health.livez),
    path("readyz", health.readyz),
    path("api/v1/", include(api)),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema")),
    path("_allauth/", include("allauth.headless.urls")),
    # Headless only: these names exist for allauth's own redirects, the pages are the front end's.
    path("accounts/", include("allauth.urls")),
    re_path(r"^(?:api|_allauth|static|assets|ws)/.*$", unknown_path),
    re_path(r"^.*$", frontend.index),
]
