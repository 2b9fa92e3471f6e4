"""UUIDv7 row ids (RFC 9562), made by the application so that an id is known before its row."""

import os
import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """A time-ordered id: 48 bits of milliseconds, then 12 bits that grow within one process, then 62 random bits."""
    global _last
    with _lock:
        # One tick is 1/4096 ms; a burst in the same tick moves on by one so that ids of a process never run backwards.
        tick = max(time.time_ns() * 4096 // 1_000_000, _last + 1)
        _last = tick
    milliseconds, fraction = divmod(tick, 4096)
    random_bits = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random_bits
    return uuid.UUID(int=value)
