"""How jobs end: the words for it, whose doing it was, and the one function that enters a terminal state.

In the same transaction the hold is settled, the slice given back and checkpoints dropped. When a job must end is
decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from portal.jobs import checkpoints, payment, slices, story
from portal.jobs.models import Job
from portal.jobs.states import Fault, JobState


@dataclass(frozen=True)
class Ending:
    """How an attempt ended, in the words of its outcome."""

    ok: bool
    result: dict[str, Any] | None = None
    code: str = ""
    message: str = ""
    fault: str = Fault.NONE
    params: dict[str, Any] = field(default_factory=dict)

    def verdict(self, job: Job) -> tuple[JobState, dict[str, Any]]:
        """The state that the job enters, and its end. A job that was asked to stop has stopped, whatever came of it."""
        if job.state == JobState.CANCELLING:
            return stopped(job)
        if self.ok:
            return JobState.SUCCEEDED, end_of("job.succeeded", "The job succeeded.", Fault.NONE)
        end = end_of(self.code, self.message, Fault(self.fault), self.params)
        return (JobState.TIMED_OUT if self.code in OUT_OF_TIME else JobState.FAILED), end


def end_job(
    job: Job,
    to: JobState,
    end: dict[str, Any],
    *,
    since: Sequence[JobState],
    if_fence: int | None = None,
    **values: Any,
) -> bool:
    """Enter a terminal state, settle the hold and give the slice back; False when somebody else was first."""
    columns = {
        "end_code": end["code"], "end_message": end["message"], "end_fault": end["fault"], "end_params": end["params"],
        "phase": None, "waiting_for": "",
    }  # fmt: skip
    story_end = ("ended", {"state": to.value, **end})
    if not story.change_state(job, to, since=since, if_fence=if_fence, also=[story_end], **columns, **values):
        return False
    result = values.get("result") or job.result
    seconds = float((result or {}).get("simulated_seconds") or 0)
    payment.settle(job, state=to, fault=Fault(end["fault"]), simulated_seconds=seconds)
    slices.release(job)
    checkpoints.drop(job)
    return True


def stopped(job: Job) -> tuple[JobState, dict[str, Any]]:
    """The end of a job that was asked to stop."""
    if job.stop_code:
        return JobState.TIMED_OUT, end_of(job.stop_code, STOP_TEXTS[job.stop_code], Fault.LIMIT)
    return JobState.CANCELLED, CANCELLED


def end_of(code: str, message: str, fault: Fault, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """How a job ended, as the interface shows it."""
    return {"code": code[:100], "message": message, "fault": fault.value, "params": params or {}}


OUT_OF_TIME = {"jail.wall", "jail.cpu", "job.time_limit"}
STOP_TEXTS = {
    "reservation.expired": "The reservation ended while the job ran: reserve for longer and run it again.",
    "credits.insufficient": "The run costs more simulated IPU time than you have credits for: use fewer steps or IPUs.",
}
TIME_LIMIT = (
    "The run was not done after its {limit} seconds and was stopped; what it wrote until then is kept. "
    "Use a smaller model, or fewer steps."
)
CANCELLED = end_of("job.cancelled", "The job was cancelled.", Fault.USER)
