"""Reading a board: simulated rows in their order, published rows beside them in none. Everything here is public."""

from __future__ import annotations

from typing import Any

import simulator
from portal.benchmarks.models import BoardEntry, PublishedRow, Suite
from portal.errors import NotFound
from portal.jobs.models import Job
from portal.tenancy import Actor

MOST_ROWS = 200


def suites() -> list[dict[str, Any]]:
    """All current suites with the number of their simulated rows."""
    rows = list(Suite.objects.filter(current=True).order_by("position"))
    return [_suite(row) | {"rows_simulated": len(_best(row))} for row in rows]


def board(slug: str, *, visitor: Actor | None) -> dict[str, Any]:
    """One board. A row names its job only to those who may see the job."""
    suite = Suite.objects.filter(slug=slug, current=True).first()
    if suite is None:
        raise NotFound
    entries = _best(suite)
    mine = _mine(visitor, entries)
    published = PublishedRow.objects.filter(suite_slug=slug).order_by("position")
    return {
        "suite": _suite(suite) | {"rows_simulated": len(entries)},
        "version": suite.version,
        "simulated": [_simulated(rank, row, mine) for rank, row in enumerate(entries, start=1)],
        "published": [_published(row) for row in published],
    }


def _best(suite: Suite) -> list[BoardEntry]:
    """The best row of each fingerprint in the present engine release, then older releases, each in order."""
    sign = "-" if suite.better == "higher" else ""
    rows = BoardEntry.objects.filter(suite_slug=suite.slug, suite_version=suite.version)
    best = rows.order_by("fingerprint", f"{sign}value", "id").distinct("fingerprint")
    ordered = sorted(best, key=lambda row: (-row.value if sign else row.value, row.achieved_at))
    ordered.sort(key=lambda row: row.engine_release != simulator.ENGINE_RELEASE)
    return ordered[:MOST_ROWS]


def _mine(visitor: Actor | None, entries: list[BoardEntry]) -> set[Any]:
    if visitor is None or not visitor.has_scope("jobs:read"):
        return set()
    ids = [row.job_id for row in entries]
    return set(Job.objects.visible_to(visitor).filter(id__in=ids).values_list("id", flat=True))


def _suite(row: Suite) -> dict[str, Any]:
    return {
        "slug": row.slug,
        "name": row.name,
        "kind": row.kind,
        "unit": row.unit,
        "better": row.better,
        "description": row.description,
        "rules": row.rules,
    }


def _simulated(rank: int, row: BoardEntry, mine: set[Any]) -> dict[str, Any]:
    return {
        "rank": rank,
        "label": "Simulated",
        "organization_name": row.organization_name,
        "system": row.system,
        "ipus": row.ipus,
        "model_name": row.model_name,
        "value": row.value,
        "unit": row.unit,
        "interval": None if row.low is None else [row.low, row.high],
        "global_batch": row.global_batch,
        "precision": row.precision,
        "engine_release": row.engine_release,
        "achieved_at": row.achieved_at,
        "job_id": row.job_id if row.job_id in mine else None,
    }


def _published(row: PublishedRow) -> dict[str, Any]:
    names = ("label", "source", "round", "division", "system", "chips", "model", "framework", "value", "unit", "notes")
    return {name: getattr(row, name) for name in names}
