"""What a run must say beside its figures: notes of the front end, and how far to trust which part."""

from __future__ import annotations

from simulator.machines.constants import fitted
from simulator.report.parts import Parts
from simulator.report.without_effect import without_effect

WAITING = "Nothing is prefetched: the IPUs wait while the hosts prepare and send inputs."
AHEAD = "Hosts prepare and send inputs ahead, while the IPUs work; the IPUs wait while they read what is ready."
WITHOUT_EFFECT = "config.without_effect"
GATEWAY = "Collectives beyond one IPU-Link domain are the least certain part: published systems were slower."
UNFITTED = "No constant of this release is fitted to measurements: read the interval."


def notes(parts: Parts) -> list[tuple[str, str]]:
    """(code, text), those of the front end first."""
    found = list(parts.notes)
    if not any(fact.confidence == "fitted" for fact in fitted().values()):
        found.append(("interval.uncalibrated", UNFITTED))
    feed = parts.parallel.feed
    if not feed.on_device:
        found.append(("host.prefetched", AHEAD) if feed.ahead else ("host.not_overlapped", WAITING))
    if parts.parallel.link_domains > 1:
        found.append(("collective.gateway", GATEWAY))
    idle = without_effect(parts)
    if idle:
        said = "; ".join(f"{name} ({why})" for name, why in idle)
        found.append((WITHOUT_EFFECT, f"Given, but without effect in this run: {said}."))
    return found
