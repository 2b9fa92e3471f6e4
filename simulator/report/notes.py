"""What a run must say beside its figures: notes of the front end, and how far to trust which part."""

from __future__ import annotations

from simulator.report.parts import Parts


def notes(parts: Parts) -> list[tuple[str, str]]:
    """(code, text), those of the front end first."""
    found = list(parts.notes)
    found.append(("interval.uncalibrated", "No constant of this release is fitted to measurements: read the interval."))
    found.append(("host.not_overlapped", "Host transfers are taken not to overlap with compute."))
    if parts.parallel.link_domains > 1:
        text = "Collectives beyond one IPU-Link domain are the least certain part: published systems were slower."
        found.append(("collective.gateway", text))
    return found
