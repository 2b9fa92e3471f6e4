"""From a finished job whose owner agreed, to a row on a board. The ticker makes up for what a crash left out."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from portal.benchmarks.events import BoardChanged
from portal.benchmarks.models import BoardEntry
from portal.benchmarks.suites import Suite, by_slug
from portal.events import Event, publish, subscribe
from portal.jobs.events import JobChanged
from portal.jobs.models import Job
from portal.jobs.references import ModelReference
from portal.jobs.services import register_suite_check
from portal.jobs.states import JobState
from portal.organizations.models import Organization
from portal.tenancy import context

logger = logging.getLogger(__name__)
LOOK_BACK = timedelta(days=7)  # after that, nobody waits for a row that a crash has left out


def listen() -> None:
    """Judge requests when they are made, and publish as soon as a job has succeeded."""
    register_suite_check(objections)
    subscribe(JobChanged, _hear)


def objections(slug: str, model: ModelReference, config: Mapping[str, Any]) -> Mapping[str, str]:
    """Why a run may not be published on the board, by field."""
    suite = by_slug(slug)
    if suite is None:
        return {"suite": f"there is no board named {slug[:60]!r}"}
    return suite.objections(zoo=model.zoo, summary=model.summary, config=config)


def _hear(event: Event) -> None:
    if isinstance(event, JobChanged) and event.state == JobState.SUCCEEDED:
        publish_due()


def publish_due() -> int:
    """Put every finished job with consent and without a row on its board, newest first. Returns how many came on."""
    with context(role="system"):
        due = (
            Job.objects.filter(state=JobState.SUCCEEDED, ended_at__gte=Now() - LOOK_BACK, result__isnull=False)
            .exclude(suite="")
            .exclude(Exists(BoardEntry.objects.filter(job_id=OuterRef("id"))))
            .order_by("-id")[:100]
        )
        entries = [entry for job in due if (entry := _entry(job)) is not None]
        # two workers may end jobs at the same moment: a job has one row, whoever writes it
        BoardEntry.objects.bulk_create(entries, ignore_conflicts=True)
        for slug in {entry.suite_slug for entry in entries}:
            publish(BoardChanged(slug))
    return len(entries)


def _entry(job: Job) -> BoardEntry | None:
    suite = by_slug(job.suite)
    result = job.result or {}
    if suite is None or job.ended_at is None or not isinstance(result.get(suite.metric), int | float):
        return None
    low, high = _interval(suite, result)
    return BoardEntry(
        suite_slug=suite.slug,
        suite_version=suite.version,
        job_id=job.id,
        org_id=job.org_id,
        fingerprint=_fingerprint(job),
        organization_name=Organization.objects.values_list("name", flat=True).get(id=job.org_id),
        system=job.system,
        ipus=job.ipus,
        model_name=job.model_name,
        value=result[suite.metric] * suite.scale,
        unit=suite.unit,
        low=low,
        high=high,
        global_batch=result["global_batch"],
        precision=job.config["precision"],
        engine_release=job.engine_release,
        achieved_at=job.ended_at,
    )


def _interval(suite: Suite, result: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The interval of the ranked metric, in its unit. A latency is one step, so the step's interval is its own."""
    named = "samples_per_second" if suite.metric == "samples_per_second" else "step_seconds"
    bounds = (result.get("intervals") or {}).get(named)
    if not bounds:
        return None, None
    return bounds[0] * suite.scale, bounds[1] * suite.scale


def _fingerprint(job: Job) -> str:
    """Equal for runs that compete for one row: same organization, model, system, size and settings, any seed."""
    settings = {name: value for name, value in job.config.items() if name not in {"seed", "steps", "dataset"}}
    named = [str(job.org_id), job.zoo or job.model_sha256, settings, job.engine_release]
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
