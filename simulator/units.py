"""Names of units, whole-number division that rounds up, and how quantities are worded. No physics."""

from __future__ import annotations

Bytes = int
Cycles = int
Seconds = float
ROUNDS_TO_ONE = 0.9995  # in three digits


def ceil_div(amount: int, share: int) -> int:
    """``amount / share`` rounded up, both whole."""
    return -(-amount // share)


def worded_bytes(amount: float) -> str:
    """``638976`` -> ``624.0 KiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(amount) < 1024 or unit == "GiB":
            return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError


def worded_seconds(amount: float) -> str:
    """``0.00123`` -> ``1.23 ms``: three digits, never an exponent from a nanosecond to years."""
    if amount >= 999.5:
        return f"{amount:,.0f} s"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if amount >= scale * ROUNDS_TO_ONE:
            return f"{amount / scale:.3g} {unit}"
    return f"{amount * 1e9:.3g} ns"
