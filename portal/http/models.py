"""Answers of requests that carried an Idempotency-Key, so that a repeated one does not act twice."""

from django.db import models

from portal.tenancy.tables import UserModel


class IdempotentAnswer(UserModel):
    """One key of one person on one route: the hash of the body it came with and the answer it got."""

    user_id = models.UUIDField()
    key = models.CharField(max_length=128)
    route = models.CharField(max_length=200)
    body_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user_id", "key", "route"], name="http_one_answer_per_key")]
