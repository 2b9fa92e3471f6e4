"""V-IPU's rules for partitions: a power of two of IPUs, aligned to its own size. Pure functions, no rows.

Alignment puts 1, 2 and 4 IPUs inside one IPU-Machine, 8 on two adjacent machines, 64 on a whole IPU-Link domain, and
larger ones on whole adjacent domains. Source: V-IPU user and administrator guides, partitions.
"""

from collections.abc import Iterable

Range = tuple[int, int]


def is_legal(start: int, ipus: int, total: int) -> bool:
    """True when IPUs [start, start + ipus) can be a partition of a pod of `total` IPUs."""
    return ipus > 0 and ipus & (ipus - 1) == 0 and start >= 0 and start % ipus == 0 and start + ipus <= total


def first_free(total: int, ipus: int, taken: Iterable[Range]) -> int | None:
    """The lowest aligned start whose IPUs are in none of the `taken` [from, to) ranges, or None."""
    occupied = sorted(taken)
    for start in range(0, total - ipus + 1, ipus):
        if not any(low < start + ipus and start < high for low, high in occupied):
            return start
    return None
