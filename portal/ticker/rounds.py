"""What is looked at, and how often. A round may be late, doubled or cut short: each verb changes rows conditionally."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.core.cache import cache
from django.db import DatabaseError, InterfaceError, connections

from portal.audit import checking
from portal.benchmarks import publishing
from portal.jobs import estimates, scheduling
from portal.registry import services as registry
from portal.registry import uploads
from portal.reservations import services as reservations
from portal.tokens import device, tickets

logger = logging.getLogger(__name__)
SEEN = "ticker_seen"  # a key of the cache, for the readiness page
SEEN_FOR = 30  # seconds


@dataclass
class Round:
    """One verb and its period in seconds."""

    name: str
    every: float
    act: Callable[[], object]
    due: float = field(default=0.0)


def rounds() -> list[Round]:
    """All of them, in the order in which they are called."""
    return [
        Round("jobs", 0.5, scheduling.tick),
        Round("boards", 5.0, publishing.publish_due),
        Round("estimates", 5.0, estimates.send_again),
        Round("reservations", 2.0, reservations.settle_due),
        Round("inspections", 60.0, registry.enqueue_waiting),
        Round("uploads", 300.0, uploads.expire_uploads),
        Round("device logins", 300.0, device.expire),
        Round("socket tickets", 60.0, tickets.expire),
        Round("audit log", 24 * 3600.0, checking.report),
        Round("seen", 10.0, lambda: cache.set(SEEN, time.time(), SEEN_FOR)),
    ]


def wrong() -> str:
    """For the readiness page: empty when a ticker was seen lately."""
    return "" if cache.get(SEEN) else "no ticker was seen in the last half minute"


def call_due(all_rounds: list[Round]) -> float:
    """Call what is due; an error in one is logged and stops no other. Returns the seconds until the next."""
    for one in all_rounds:
        if time.monotonic() < one.due:
            continue
        try:
            one.act()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("the database did not answer for %s: %s", one.name, error)
            connections.close_all()
        except Exception:
            logger.exception("the round %s failed", one.name)
        one.due = time.monotonic() + one.every
    return max(0.05, min(one.due for one in all_rounds) - time.monotonic())
