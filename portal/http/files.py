"""Sends stored files without holding them in memory; an asynchronous server reads Django's FileResponse whole."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

CHUNK = 256 * 1024


def download(file: Path, *, name: str, content_type: str = "application/octet-stream") -> StreamingHttpResponse:
    """The file as an attachment: nothing that a user stored is shown by a browser as a page of ours."""
    opened = file.open("rb")
    response = StreamingHttpResponse(_chunks(opened), content_type=content_type)
    response["Content-Length"] = str(file.stat().st_size)
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
