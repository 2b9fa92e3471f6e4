"""What people do with jobs: submit, cancel, run again. The API and the tests of the whole path call these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Max
from django.db.models.functions import Now

import simulator
from portal import tenancy
from portal.audit import services as audit
from portal.errors import NotFound, PodiumError
from portal.jobs import endings, payment, slices, story
from portal.jobs.configuration import complete
from portal.jobs.estimates import expected_seconds
from portal.jobs.models import Attempt, Job
from portal.jobs.references import ModelReference, resolve
from portal.jobs.states import TERMINAL, WAITING, AttemptState, JobState
from portal.organizations.access import project_for, require
from portal.organizations.models import Project
from portal.tenancy import Actor, Role

# (suite slug, model, complete settings) -> objections by field; set by the app that knows the suites
SuiteCheck = Callable[[str, ModelReference, Mapping[str, Any]], Mapping[str, str]]
_suite_check: list[SuiteCheck] = []
MOST_OPEN_JOBS = 50  # of a project, at once


def register_suite_check(check: SuiteCheck) -> None:
    """Tell jobs how to judge whether a request keeps to the rules of a board."""
    _suite_check[:] = [check]


def submit(
    *,
    actor: Actor,
    model: str,
    config: Mapping[str, Any],
    name: str = "",
    project_id: UUID | None = None,
    reservation_id: UUID | None = None,
    suite: str = "",
) -> Job:
    """Ask for a run. It is checked, paid for by a hold and queued, or refused with what to change."""
    project = project_for(actor, project_id, Role.MEMBER)
    reference = resolve(actor, model, project=project)
    settled = complete(config, reference)
    place = slices.place_for(actor, settled, reservation_id=reservation_id, project=project)
    settled = {**settled, "system": place.system, "ipus": place.ipus}
    _check_suite(suite, reference, settled)
    with tenancy.atomic():
        _lock_project(project)
        _check_quota(project)
        job = Job(
            org_id=project.org_id, project_id=project.id, number=_next_number(project),
            name=name or f"{reference.name}: {'training' if settled['task'] == 'train' else 'inference'}",
            created_by_id=actor.user_id, created_at=Now(), due_at=Now(), asked_release=simulator.ENGINE_RELEASE,
            model_id=reference.model_id, zoo=reference.zoo, model_name=reference.name, model_sha256=reference.sha256,
            task=settled["task"], config=settled, system=place.system, ipus=place.ipus, pod_id=place.pod_id,
            reservation_id=reservation_id, suite=suite, wall_seconds=settings.PODIUM_JOB_WALL_SECONDS,
        )  # fmt: skip
        payment.hold(job, expected_seconds=expected_seconds(project, reference.zoo or reference.sha256, settled))
        job.save(force_insert=True)
        story.begin(job)
        facts = {"config": settled, "suite": suite}
        audit.record_of(job, "job.submitted", actor=actor, label=job.name, after=facts)
    return Job.objects.select_related("created_by").get(id=job.id)


def cancel(*, actor: Actor, job_id: UUID) -> Job:
    """Stop a job, whatever it is doing: at once when no worker has it, else as soon as the worker sees it.

    A job that has ended stays as it is.
    """
    with tenancy.atomic():
        job = Job.objects.visible_to(actor).filter(id=job_id).select_for_update(of=("self",)).first()
        if job is None:
            raise NotFound
        require(actor, job.org_id, Role.MEMBER)
        if job.state not in TERMINAL:
            facts = {"state_before": job.state}
            audit.record_of(job, "job.cancelled", actor=actor, label=job.name, after=facts)
        if job.state in WAITING:
            Attempt.objects.filter(job=job, state=AttemptState.DISPATCHED).update(
                state=AttemptState.WITHDRAWN, ended_at=Now()
            )
            endings.end_job(job, JobState.CANCELLED, endings.CANCELLED, since=WAITING, cancel_requested_at=Now())
        elif job.state not in TERMINAL:
            story.change_state(job, JobState.CANCELLING, cancel_requested_at=Now())
    return Job.objects.select_related("created_by").get(id=job_id)


def rerun(*, actor: Actor, job_id: UUID) -> Job:
    """The same request once more, on the same reservation while that lasts. It is not published anew."""
    job = Job.objects.visible_to(actor).filter(id=job_id).first()
    if job is None:
        raise NotFound
    return submit(
        actor=actor,
        model=job.zoo or str(job.model_id),
        config=job.config,
        name=job.name,
        project_id=job.project_id,
        reservation_id=job.reservation_id,
    )


def _check_suite(suite: str, reference: ModelReference, config: Mapping[str, Any]) -> None:
    if not suite:
        return
    found = {name: text for check in _suite_check for name, text in check(suite, reference, config).items()}
    if found:
        raise PodiumError(
            "suite.not_eligible",
            "This run does not keep to the rules of the board: " + "; ".join(found.values()) + ".",
            status=422,
            params={"suite": suite},
            fields={name: ("suite.not_eligible", text) for name, text in found.items()},
        )


def _lock_project(project: Project) -> None:
    """Numbers of jobs and the quota are counted under this lock."""
    Project.objects.select_for_update().get(id=project.id)


def _check_quota(project: Project) -> None:
    open_jobs = Job.objects.filter(project_id=project.id).exclude(state__in=TERMINAL).count()
    if open_jobs >= MOST_OPEN_JOBS:
        raise PodiumError(
            "quota.open_jobs",
            f"This project has {open_jobs} jobs waiting or running, and {MOST_OPEN_JOBS} is the limit: "
            "wait for one to end or cancel one.",
            status=409,
            params={"limit": MOST_OPEN_JOBS},
        )


def _next_number(project: Project) -> int:
    highest = Job.objects.filter(project_id=project.id).aggregate(highest=Max("number"))["highest"]
    return (highest or 0) + 1
