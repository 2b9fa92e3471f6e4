"""What a worker may do with the attempt it was given: claim it, keep its lease, tell its story, end it.

Each verb carries the attempt's fence and is refused (StaleFence) once the job was given to somebody else or has ended.
All of them open the system role.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from portal import storage
from portal.events import publish
from portal.jobs import checkpoints, endings, fairness, payment, slices, story
from portal.jobs.endings import Ending
from portal.jobs.events import JobProgressed
from portal.jobs.models import Artefact, Attempt, Job, Worker
from portal.jobs.states import WITH_WORKER, AttemptState, JobState
from portal.tenancy import context

LEASE = timedelta(seconds=settings.PODIUM_LEASE_SECONDS)


class Wish(StrEnum):
    """What the platform wants of a worker that runs an attempt."""

    GO_ON = "go_on"
    STOP = "stop"
    HAND_BACK = "hand_back"


class StaleFence(Exception):
    """The attempt is not the one that may write any more."""


@dataclass(frozen=True)
class Claim:
    """All that a worker needs to run an attempt. `model_path` is None for a model of the zoo."""

    attempt_id: UUID
    job_id: UUID
    fence: int
    zoo: str
    model_path: Path | None
    model_name: str
    config: dict[str, Any]
    resume_step: int
    checkpoint_path: Path | None
    wall_seconds: int


@dataclass(frozen=True)
class NewArtefact:
    """A stored file to be listed with its job."""

    name: str
    content_type: str
    blob: storage.Blob


def claim(*, attempt_id: UUID, worker_id: UUID, worker_name: str) -> Claim | None:
    """Take a dispatched attempt under a lease. None when it is not there to be taken: doubled, late or withdrawn."""
    with context(role="system"):
        job = _locked_job(attempt_id)
        taken = job is not None and Attempt.objects.filter(id=attempt_id, state=AttemptState.DISPATCHED).update(
            state=AttemptState.RUNNING, worker_id=worker_id, claimed_at=Now(), lease_until=Now() + LEASE
        )
        if job is None or not taken:
            return None
        attempt = Attempt.objects.get(id=attempt_id)
        checkpoint = checkpoints.newest(job)
        resume_step = checkpoint.step if checkpoint else 0
        worker = Worker.objects.filter(id=worker_id).first()
        started = {"attempt": attempt.number, "resume_step": resume_step, "worker": worker_name}
        if not story.change_state(
            job, JobState.COMPILING, if_fence=attempt.fence,
            also=[("attempt_started", started), *_other_release(job, worker)],
            started_at=job.started_at or Now(), phase=None, progress=None, batch=0, waiting_for="",
        ):  # fmt: skip
            Attempt.objects.filter(id=attempt_id).update(state=AttemptState.WITHDRAWN, ended_at=Now())
            return None
        return Claim(
            attempt_id=attempt.id,
            job_id=job.id,
            fence=attempt.fence,
            zoo=job.zoo,
            model_path=None if job.zoo else storage.path(job.model_sha256),
            model_name=job.model_name,
            config=job.config,
            resume_step=resume_step,
            checkpoint_path=storage.path(checkpoint.sha256) if checkpoint else None,
            wall_seconds=_time_left(job),
        )


def heartbeat(attempt_id: UUID, fence: int) -> Wish:
    """Renew the lease, and hear what is wanted: go on, stop, or save the state and give the attempt back."""
    with context(role="system"):
        job = _writable(attempt_id, fence)
        if job.state == JobState.CANCELLING:
            return Wish.STOP
        mine = Attempt.objects.filter(id=attempt_id)
        leaving = Worker.objects.filter(id__in=mine.values("worker_id"), draining=True).exists()
        return Wish.HAND_BACK if leaving or mine.exclude(hand_back="").exists() else Wish.GO_ON


def hand_back(attempt_id: UUID, fence: int, *, isolation: str) -> None:
    """Give the attempt back, to go on from its newest checkpoint elsewhere. The same call again changes nothing.

    A job that was asked to stop in the meantime ends instead.
    """
    with context(role="system"):
        if Attempt.objects.filter(id=attempt_id, fence=fence, state=AttemptState.HANDED_BACK).exists():
            return
        job = _writable(attempt_id, fence)
        Attempt.objects.filter(id=attempt_id).update(
            state=AttemptState.HANDED_BACK, ended_at=Now(), isolation=isolation
        )
        fairness.charge(job, attempt_id)
        if job.state == JobState.CANCELLING:
            to, end = endings.stopped(job)
            endings.end_job(job, to, end, since=[JobState.CANCELLING], if_fence=fence)
            return
        slices.release(job)
        story.change_state(
            job, JobState.QUEUED, if_fence=fence, due_at=Now(), turns=F("turns") + 1, phase=None, booking_id=None,
            waiting_for="worker.handed_back",
        )  # fmt: skip


def record_events(
    attempt_id: UUID,
    fence: int,
    *,
    batch: int,
    rows: Sequence[story.Row],
    phase: dict[str, Any] | None = None,
    progress: dict[str, Any] | None = None,
    executing: bool = False,
) -> bool:
    """Add one batch of rows to the story and renew the lease; the same batch again changes nothing.

    `phase` and `progress` are what the job shows now, `executing` says that numbers are being computed. Returns True
    when the job is to be stopped.
    """
    with context(role="system"):
        job = _writable(attempt_id, fence)
        if job.batch >= batch:
            return job.state == JobState.CANCELLING
        if executing and job.state == JobState.COMPILING:
            story.change_state(job, JobState.RUNNING, since=[JobState.COMPILING], if_fence=fence)
        if story.append(job, rows, attempt=job.attempts_made, fence=fence, batch=batch) is None:
            raise StaleFence
        shown = {name: value for name, value in (("phase", phase), ("progress", progress)) if value is not None}
        if shown:
            Job.objects.filter(id=job.id).update(**shown)
        publish(JobProgressed(job.id))
        return job.state == JobState.CANCELLING


def record_report(attempt_id: UUID, fence: int, *, blob: storage.Blob, summary: dict[str, Any]) -> None:
    """Keep the simulator's report, and what `summarise` says of it."""
    with context(role="system"):
        job = _writable(attempt_id, fence)
        if job.report_sha256 == blob.sha256:
            return
        Job.objects.filter(id=job.id).update(
            report_sha256=blob.sha256, engine_release=summary["engine_release"], result=summary
        )
        _list_artefact(job, NewArtefact("report.json", "application/json", blob))
        story.append(job, [("report", {"digest": blob.sha256})], attempt=job.attempts_made, fence=fence)
        if not payment.adjust(job, simulated_seconds=summary["simulated_seconds"]):
            story.change_state(job, JobState.CANCELLING, if_fence=fence, stop_code="credits.insufficient")
        publish(JobProgressed(job.id))


def record_checkpoint(attempt_id: UUID, fence: int, *, step: int, blob: storage.Blob) -> None:
    """Keep where a training run may go on from."""
    with context(role="system"):
        job = _writable(attempt_id, fence)
        checkpoints.keep(job, step=step, blob=blob)


def finish(
    attempt_id: UUID, fence: int, *, ending: Ending, isolation: str, artefacts: Sequence[NewArtefact] = ()
) -> None:
    """End the attempt and its job, settle what it costs, list its files. The same call again changes nothing."""
    with context(role="system"):
        if _already_ended(attempt_id, fence):
            return
        job = _writable(attempt_id, fence)
        Attempt.objects.filter(id=attempt_id).update(state=AttemptState.ENDED, ended_at=Now(), isolation=isolation)
        fairness.charge(job, attempt_id)
        for artefact in artefacts:
            _list_artefact(job, artefact)
        to, end = ending.verdict(job)
        summary = job.result
        if to is JobState.SUCCEEDED and ending.result is not None:
            summary = {**(summary or {}), "final_loss": ending.result.get("final_loss")}
        endings.end_job(job, to, end, since=WITH_WORKER, if_fence=fence, result=summary)


def _locked_job(attempt_id: UUID) -> Job | None:
    """The job of an attempt, locked. Every verb locks the job before it touches attempts: none waits in a ring."""
    return Job.objects.select_for_update(of=("self",)).filter(attempts__id=attempt_id).first()


def _other_release(job: Job, worker: Worker | None) -> list[story.Row]:
    """A line of the log when the engine is not the one that the job was asked with, or began with."""
    before = job.engine_release or job.asked_release
    if worker is None or not before or worker.engine_release == before:
        return []
    text = (
        f"This worker has release {worker.engine_release} of the engine, and the job was asked for with {before}: "
        "its figures may differ from the estimate."
    )
    return [("log", {"lines": [{"level": "warning", "message": text, "time": timezone.now().isoformat()}]})]


def _time_left(job: Job) -> int:
    """Of the limit of time, what earlier turns have left. What was lost with a worker does not count."""
    taken = Attempt.objects.filter(job=job, state=AttemptState.HANDED_BACK, claimed_at__isnull=False)
    spent = sum((row.ended_at - row.claimed_at).total_seconds() for row in taken if row.ended_at and row.claimed_at)
    return max(1, round(job.wall_seconds - spent))


def _writable(attempt_id: UUID, fence: int) -> Job:
    """Lock the job and renew the lease; StaleFence unless this attempt is the one that may write."""
    job = _locked_job(attempt_id)
    renewed = Attempt.objects.filter(id=attempt_id, fence=fence, state=AttemptState.RUNNING).update(
        lease_until=Now() + LEASE
    )
    if job is None or not renewed or job.fence != fence or job.state not in WITH_WORKER:
        raise StaleFence
    return job


def _already_ended(attempt_id: UUID, fence: int) -> bool:
    return Attempt.objects.filter(id=attempt_id, fence=fence, state=AttemptState.ENDED).exists()


def summarise(report: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """What a report says in short. Raises KeyError, TypeError or ValueError when it is not a report at all."""
    step, latency = float(report["step_seconds"]), report["latency"]
    intervals = {
        name: [float(bound) for bound in report["intervals"][name]] for name in ("step_seconds", "samples_per_second")
    }
    return {
        "step_seconds": step,
        "samples_per_second": float(report["samples_per_second"]),
        "latency_seconds": None if latency is None else float(latency["seconds"]),
        "final_loss": None,
        "fits": bool(report["fits"]),
        "simulated_seconds": step * config["steps"],
        "global_batch": int(report["parallel"]["global_batch"]),
        "intervals": intervals,
        "engine_release": str(report["engine"]["release"])[:50],
    }


def _list_artefact(job: Job, new: NewArtefact) -> None:
    Artefact.objects.update_or_create(
        job=job,
        name=new.name,
        defaults={
            "org_id": job.org_id, "project_id": job.project_id, "sha256": new.blob.sha256, "bytes": new.blob.bytes,
            "content_type": new.content_type, "created_at": Now(),
        },
    )  # fmt: skip
