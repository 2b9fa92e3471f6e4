"""The web process: HTTP by Django, the socket by portal.live. Served by uvicorn."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
# A request is answered in a thread of its own here, so connections come from a pool; set before the settings are read.
os.environ.setdefault("PODIUM_DB_POOL", "1")

from django.core.asgi import get_asgi_application

application = get_asgi_application()
