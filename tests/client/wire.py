"""A real HTTP server whose answers a test scripts: for faults of the network, which a healthy portal does not show."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DROP = object()  # hang up without an answer


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Wire:
    """`answer(request)` gives `(status, body)`, `(status, body, headers)` or DROP; `seen` holds what came."""

    answer: Callable[[Request], Any]
    url: str = ""
    seen: list[Request] = field(default_factory=list)


@contextmanager
def serve(answer: Callable[[Request], Any]) -> Iterator[Wire]:
    wire = Wire(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, self.rfile.read(length))
            wire.seen.append(request)
            answered = wire.answer(request)
            if answered is DROP:
                self.close_connection = True
                self.connection.close()
                return
            status, body, *more = answered
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = handle_any

        def log_message(self, *arguments: Any) -> None:
            """The test's output stays its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    wire.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def problem(code: str, detail: str = "No.", **more: Any) -> dict[str, Any]:
    return {"type": f"/docs/errors/{code}", "title": detail, "detail": detail, "code": code, **more}
