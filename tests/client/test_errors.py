"""Exit codes: what a pipeline acts on."""

import pytest

from podium_client.errors import exit_code_of, exit_code_of_job


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("credits.insufficient", 402, 6),
        ("token.invalid", 401, 6),
        ("forbidden", 403, 6),
        ("not_found", 404, 2),
        ("reservation.overlap", 409, 2),
        ("config.invalid", 422, 2),
        ("memory.does_not_fit", 422, 3),
        ("throttled", 429, 5),
        ("internal", 500, 5),
    ],
)
def test_a_refused_request_has_the_exit_code_of_its_reason(code: str, status: int, expected: int) -> None:
    assert exit_code_of(code, status) == expected


@pytest.mark.parametrize(
    ("state", "end", "expected"),
    [
        ("succeeded", None, 0),
        ("failed", {"code": "run.diverged", "fault": "user"}, 1),
        ("failed", {"code": "limit.memory", "fault": "limit"}, 1),
        ("failed", {"code": "model.needs_dims", "fault": "user"}, 2),
        ("cancelled", {"code": "job.cancelled", "fault": "none"}, 1),
        ("failed", {"code": "memory.does_not_fit", "fault": "user"}, 3),
        ("failed", {"code": "internal", "fault": "platform"}, 5),
        ("timed_out", {"code": "limit.wall", "fault": "limit"}, 5),
    ],
)
def test_an_ended_job_has_the_exit_code_of_its_end(state: str, end: dict[str, str] | None, expected: int) -> None:
    assert exit_code_of_job({"state": state, "end": end}) == expected
