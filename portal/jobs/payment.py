"""What a job costs and when it is paid: on demand, simulated IPU time; on a reserved slice, nothing more.

Money moves only through `credits.services`; this module decides how much.
"""

from __future__ import annotations

import math

from portal.credits import services as credits
from portal.errors import PodiumError
from portal.jobs.models import Job
from portal.jobs.states import Fault, JobState
from portal.pods import prices

# Held for a run that nobody has estimated; the report corrects it before numbers are computed.
UNKNOWN_SECONDS = 600.0
MARGIN = 1.05  # an estimate is of the same engine, so it is only rounded up


def price(*, system: str, ipus: int, simulated_seconds: float) -> int:
    """Micro-credits for simulated time on `ipus` IPUs: IPU-milliseconds, rounded up once, at the system's price."""
    return prices.price(system, ipu_milliseconds=math.ceil(ipus * simulated_seconds * 1000))


def hold(job: Job, *, expected_seconds: float | None) -> None:
    """Set aside what the job should cost; refuses with `credits.insufficient`. The row is saved by the caller."""
    if job.reservation_id is not None:
        return
    seconds = UNKNOWN_SECONDS if expected_seconds is None else expected_seconds * MARGIN
    amount = price(system=job.system, ipus=job.ipus, simulated_seconds=seconds)
    held = credits.hold(
        org_id=job.org_id, project_id=job.project_id, amount=amount, purpose="job", reference_id=job.id,
        note=f"Job {job.number}",
    )  # fmt: skip
    job.hold_id, job.held_microcredits = held.id, amount


def adjust(job: Job, *, simulated_seconds: float) -> bool:
    """Now that the time is known, hold more if need be. False when the wallet has too little."""
    if job.hold_id is None:
        return True
    amount = price(system=job.system, ipus=job.ipus, simulated_seconds=simulated_seconds)
    if amount <= job.held_microcredits:
        return True
    credits.settle(hold_id=job.hold_id, captured=0, note=f"Job {job.number}: held anew")
    try:
        held = credits.hold(
            org_id=job.org_id, project_id=job.project_id, amount=amount, purpose="job-simulated", reference_id=job.id,
            note=f"Job {job.number}",
        )  # fmt: skip
    except PodiumError:
        Job.objects.filter(id=job.id).update(hold_id=None, held_microcredits=0)
        return False
    Job.objects.filter(id=job.id).update(hold_id=held.id, held_microcredits=amount)
    return True


def settle(job: Job, *, state: JobState, fault: Fault, simulated_seconds: float) -> None:
    """Capture what was used, refund the rest; nothing is charged for our own faults or for steps that were not made."""
    if job.hold_id is None:
        return
    share = 1.0 if state is JobState.SUCCEEDED else _share_done(job)
    used = 0.0 if fault is Fault.PLATFORM else simulated_seconds * share
    wanted = price(system=job.system, ipus=job.ipus, simulated_seconds=used)
    settled = credits.settle(hold_id=job.hold_id, captured=wanted, note=f"Job {job.number}")
    Job.objects.filter(id=job.id).update(captured_microcredits=settled.captured or 0)


def _share_done(job: Job) -> float:
    progress = job.progress or {}
    done, total = progress.get("done") or 0, progress.get("total") or 0
    return min(1.0, done / total) if total else 0.0
