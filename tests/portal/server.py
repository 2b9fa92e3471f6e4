"""The real web application on a port of this machine, in a thread of the test process."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


@contextmanager
def serving() -> Iterator[str]:
    """Address (host:port) of the running application."""
    from portal.asgi import application

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        application,
        ws="websockets-sansio",
        ws_max_size=65_536,
        lifespan="off",
        log_level="warning",
        proxy_headers=False,
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
