"""The web process: HTTP by Django, the socket by portal.live. Served by uvicorn."""

import os
import warnings
from typing import Any


def build() -> Any:
    """The ASGI application. Settings are read in here, after the environment is complete, hence the inner imports."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    # A request is answered in a thread of its own here, so connections come from a pool.
    os.environ.setdefault("PODIUM_DB_POOL", "1")

    from channels.routing import ProtocolTypeRouter, URLRouter
    from django.conf import settings
    from django.core.asgi import get_asgi_application
    from django.urls import path, re_path

    # whitenoise hands out the front end's small files; larger ones have an asynchronous reader (portal.http.files).
    warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")
    django = get_asgi_application()

    from portal.http.body import LimitBody
    from portal.live.consumer import LiveConsumer
    from portal.tokens.sockets import PodiumDoor

    sockets = [
        path("ws/v1", LiveConsumer.as_asgi(door=PodiumDoor())),
        re_path(r"", no_such_socket),  # type: ignore[arg-type] # an ASGI application, as Channels wants it
    ]
    return ProtocolTypeRouter({"http": LimitBody(django, settings.REQUEST_MAX_BYTES), "websocket": URLRouter(sockets)})


async def no_such_socket(scope: Any, receive: Any, send: Any) -> None:
    """Refuses sockets at other addresses."""
    await receive()
    await send({"type": "websocket.close", "code": 4404})


application = build()
