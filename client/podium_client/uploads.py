"""Sending a file in parts: by SHA-256, resumable after a lost connection. Inspection is the server's."""

import hashlib
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import cast

from podium_client.errors import ConnectionLost, PodiumError
from podium_client.transport import ATTEMPTS, Transport
from podium_client.types import Model, Upload

Progress = Callable[[int, int], None]
READ_BYTES = 1 << 20


def sha256_of(path: Path) -> str:
    """Lower-case hexadecimal digest of the file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(READ_BYTES):
            digest.update(block)
    return digest.hexdigest()


def upload_file(
    transport: Transport,
    path: Path,
    *,
    name: str,
    sha256: str,
    project_id: str | None,
    on_progress: Progress | None = None,
) -> Model:
    """Send the file and return its model row, which is still being inspected."""
    size = path.stat().st_size
    request = {"name": name, "size": size, "sha256": sha256}
    if project_id:
        request["project_id"] = project_id
    upload = cast(Upload, transport.post("uploads", request))
    with path.open("rb") as file:
        offset = upload["received"]
        while offset < size:
            file.seek(offset)
            part = file.read(upload["part_bytes"])
            if not part:
                raise PodiumError("file.changed", f"{path} became shorter while it was sent. Send it again.")
            offset = _send_part(transport, upload["id"], offset, part)
            if on_progress is not None:
                on_progress(offset, size)
    return cast(Model, transport.post(f"uploads/{upload['id']}/complete", idempotency_key=str(uuid.uuid4())))


def _send_part(transport: Transport, upload_id: str, offset: int, part: bytes) -> int:
    """Send one part and return how many bytes the server has now; after a fault, ask the server where it stands."""
    headers = {"Content-Type": "application/octet-stream", "Upload-Offset": str(offset)}
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return int(transport.put_bytes(f"uploads/{upload_id}", part, headers)["received"])
        except PodiumError as error:
            passing = isinstance(error, ConnectionLost) or error.status in (409, 502, 504)
            if not passing or attempt == ATTEMPTS:
                raise
        received = int(transport.get(f"uploads/{upload_id}")["received"])
        if received != offset:
            return received
        time.sleep(0.2 * attempt)
    raise AssertionError("unreachable")
