"""Refuses request bodies beyond a bound before they are spooled to disk. Files are uploaded in parts that fit."""

import json
from typing import Any

from portal.errors import PodiumError
from portal.errors.handler import MEDIA_TYPE, problem


class LimitBody:
    """ASGI wrapper: 413 by the announced length; a body that still grows beyond the bound ends the connection."""

    def __init__(self, application: Any, max_bytes: int) -> None:
        self.application, self.max_bytes = application, max_bytes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > self.max_bytes:
            await self._refuse(send)
            return
        received = 0

        async def counted() -> Any:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return message if received <= self.max_bytes else {"type": "http.disconnect"}

        await self.application(scope, counted, send)

    async def _refuse(self, send: Any) -> None:
        error = PodiumError(
            "request.too_large",
            f"A request has at most {self.max_bytes} bytes: send files in parts.",
            status=413,
            params={"max_bytes": self.max_bytes},
        )
        body = json.dumps(problem(error)).encode()
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})
