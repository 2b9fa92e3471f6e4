"""Brings the suites and the published results of this version of the code into the database."""

from __future__ import annotations

import csv
from pathlib import Path

from portal.benchmarks.models import PublishedRow, Suite
from portal.benchmarks.suites import SUITES
from portal.tenancy import context

PUBLISHED = Path(__file__).parent / "data" / "published.csv"
_COPIED = ("label", "source", "round", "division", "system", "model", "framework", "metric", "unit", "notes")


def load() -> tuple[int, int]:
    """Insert or update suites and published rows, remove those that are listed no more; (suites, rows)."""
    with context(role="system"):
        for position, suite in enumerate(SUITES):
            Suite.objects.filter(slug=suite.slug).exclude(version=suite.version).update(current=False)
            Suite.objects.update_or_create(
                slug=suite.slug,
                version=suite.version,
                defaults={
                    "name": suite.name, "kind": suite.kind, "unit": suite.unit, "better": suite.better,
                    "description": suite.description, "rules": suite.rules(), "position": position, "current": True,
                },
            )  # fmt: skip
        Suite.objects.exclude(slug__in=[suite.slug for suite in SUITES]).update(current=False)
        return len(SUITES), _load_published()


def _load_published() -> int:
    kept = []
    with PUBLISHED.open(newline="", encoding="utf-8") as file:
        for position, line in enumerate(csv.DictReader(file)):
            for slug in line["suites"].split():
                values = {name: line[name] for name in _COPIED}
                row, _ = PublishedRow.objects.update_or_create(
                    suite_slug=slug,
                    key=line["id"],
                    defaults={
                        **values,
                        "position": position,
                        "value": float(line["value"]),
                        "chips": int(line["chips"]) if line["chips"] else None,
                    },
                )
                kept.append(row.id)
    PublishedRow.objects.exclude(id__in=kept).delete()
    return len(kept)
