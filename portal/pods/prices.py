"""What an IPU costs an hour, in micro-credits. One credit buys one IPU of a small system for one hour.

The larger systems cost more an IPU for their GW-Links and hosts. The numbers are Podium's own, not Graphcore's.
"""

import simulator

CREDIT = 1_000_000
MILLISECONDS_PER_HOUR = 3_600_000

# parts of a credit: newer chips do more in an hour, cards and the first generation less
PER_CHIP = {"GC2": 50, "C600": 80, "GC200": 100, "Bow": 130}
LARGER = ((256, 125), (128, 120), (64, 110))  # from so many IPUs, so many per cent


def microcredits_per_ipu_hour(system: str) -> int:
    """Micro-credits for one IPU of the system for one hour."""
    found = simulator.system(system)
    size = next((percent for ipus, percent in LARGER if found.ipus >= ipus), 100)
    return CREDIT * PER_CHIP[found.chip] * size // 10_000


def price(system: str, *, ipu_milliseconds: int) -> int:
    """Micro-credits for IPU time, rounded up once."""
    return -(-ipu_milliseconds * microcredits_per_ipu_hour(system) // MILLISECONDS_PER_HOUR)
