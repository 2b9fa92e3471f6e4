"""What is told about jobs after commit: a state that changed, new rows in a story, an end that boards may care for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from portal.events import Event, publish

if TYPE_CHECKING:
    from portal.jobs.models import Job


@dataclass(frozen=True, slots=True)
class JobProgressed(Event):
    """There are new rows in the story of a job."""

    job_id: UUID

    def hints(self) -> Iterable[tuple[str, dict[str, Any]]]:
        yield f"job:{self.job_id}", {}


@dataclass(frozen=True, slots=True)
class JobChanged(Event):
    """A job entered a state."""

    job_id: UUID
    project_id: UUID
    state: str

    def hints(self) -> Iterable[tuple[str, dict[str, Any]]]:
        yield f"job:{self.job_id}", {}
        yield f"project:{self.project_id}", {"kind": "job", "id": str(self.job_id), "state": self.state}

    @classmethod
    def tell(cls, job: Job, *, state: str) -> None:
        """Publish it for a job whose new state was just written."""
        publish(cls(job_id=job.id, project_id=job.project_id, state=state))


@dataclass(frozen=True, slots=True)
class EstimateReady(Event):
    """A worker has answered a question."""

    estimate_id: UUID
    project_id: UUID
    state: str

    def hints(self) -> Iterable[tuple[str, dict[str, Any]]]:
        what = {"kind": "estimate", "id": str(self.estimate_id), "state": self.state}
        yield f"project:{self.project_id}", what
