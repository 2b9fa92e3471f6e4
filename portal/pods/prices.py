"""What an IPU costs an hour, in micro-credits. One credit buys one IPU of a small system for one hour.

The larger systems cost more an IPU for their GW-Links and hosts. The numbers are Podium's own, not Graphcore's.
"""

CREDIT = 1_000_000
MILLISECONDS_PER_HOUR = 3_600_000

PER_IPU_HOUR = {
    "m2000": CREDIT,
    "pod4": CREDIT,
    "pod16": CREDIT,
    "pod64": CREDIT * 11 // 10,
    "pod128": CREDIT * 12 // 10,
    "pod256": CREDIT * 125 // 100,
}


def microcredits_per_ipu_hour(system: str) -> int:
    """Micro-credits for one IPU of the system for one hour."""
    return PER_IPU_HOUR.get(system, CREDIT)


def price(system: str, *, ipu_milliseconds: int) -> int:
    """Micro-credits for IPU time, rounded up once."""
    return -(-ipu_milliseconds * microcredits_per_ipu_hour(system) // MILLISECONDS_PER_HOUR)
