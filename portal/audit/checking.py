"""Whether the chains are whole. The heads, kept somewhere else, show a log that was cut off at its end."""

import logging
from dataclasses import dataclass

from django.db import connections

from portal import tenancy
from portal.audit.models import Link

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place of a chain, which is named by its organization."""

    chain: str
    place: int
    what: str


def faults() -> list[Fault]:
    """Everything that is wrong; empty when nobody has touched the log."""
    with tenancy.context(role="system") as opened, connections[opened.alias].cursor() as cursor:
        cursor.execute("SELECT chain, place, fault FROM podium_audit_faults() ORDER BY 1, 2")
        return [Fault(str(chain), place, what) for chain, place, what in cursor.fetchall()]


def report() -> int:
    """Log what is wrong, loudly. For the ticker, once a day."""
    found = faults()
    for fault in found:
        logger.critical("The audit log was tampered with: chain %s, place %d: %s", fault.chain, fault.place, fault.what)
    return len(found)


def heads() -> dict[str, str]:
    """The last link of each chain as "place:hash"."""
    with tenancy.context(role="system"):
        rows = Link.objects.order_by("org_id", "-place").distinct("org_id")
        return {str(row.org_id): f"{row.place}:{bytes(row.hash).hex()}" for row in rows}


def cut(kept: dict[str, str]) -> list[Fault]:
    """Chains that no longer hold the heads which were kept earlier."""
    found = []
    with tenancy.context(role="system"):
        for chain, head in kept.items():
            place, _, digest = head.partition(":")
            row = Link.objects.filter(org_id=chain, place=int(place)).first()
            if row is None or bytes(row.hash).hex() != digest:
                found.append(Fault(chain, int(place), "it ended differently when its head was kept"))
    return found
