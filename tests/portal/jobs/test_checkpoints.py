"""Checkpoints: the next attempt goes on from the newest, and no file stays that nobody needs."""

from portal import storage
from portal.jobs import attempts, scheduling
from portal.jobs.models import Checkpoint
from portal.tenancy import context
from tests.portal.jobs.looking import claim_of, events_of, finish, let_lease_run_out


def keep(claim, step: int, content: bytes) -> storage.Blob:
    blob = storage.write_bytes(content)
    attempts.record_checkpoint(claim.attempt_id, claim.fence, step=step, blob=blob)
    return blob


def there(blob: storage.Blob) -> bool:
    return storage.path(blob.sha256).exists()


def lose(claim) -> None:
    from django.db.models.functions import Now

    from portal.jobs.models import Job

    let_lease_run_out(claim.attempt_id)
    scheduling.reap()
    with context(role="system"):
        Job.objects.filter(id=claim.job_id).update(due_at=Now())
    scheduling.dispatch()


def test_the_next_attempt_goes_on_from_the_newest(start, worker):
    job, claim = start()
    old, new = keep(claim, 5, b"five"), keep(claim, 9, b"nine")
    assert (there(old), there(new)) == (False, True)
    lose(claim)
    again = claim_of(job.id, worker)
    assert (again.resume_step, again.checkpoint_path) == (9, storage.path(new.sha256))
    assert [e["data"]["resume_step"] for e in events_of(job.id) if e["kind"] == "attempt_started"] == [0, 9]
    finish(again)
    assert not there(new)
    with context(role="system"):
        assert not Checkpoint.objects.filter(job=job).exists()


def test_a_file_that_another_job_needs_stays(start):
    (_, first), (_, second) = start(), start()
    blob = keep(first, 5, b"the same")
    keep(second, 5, b"the same")
    finish(first)
    assert there(blob)
    finish(second)
    assert not there(blob)


def test_without_its_file_a_checkpoint_does_not_count(start, worker):
    job, claim = start()
    blob = keep(claim, 5, b"lost")
    storage.path(blob.sha256).unlink()
    lose(claim)
    assert claim_of(job.id, worker).resume_step == 0
