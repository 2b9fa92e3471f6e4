"""Pods and their occupancy. An occupied range has no owner or title here, so that clashes can be shown to anybody."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, IntegerRangeField, RangeOperators
from django.db import models
from django.db.models import Q

from portal.tenancy.tables import PublicModel


class Pod(PublicModel):
    """A cluster of one system that everybody shares; IPUs are numbered from 0 over the whole of it."""

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    system = models.CharField(max_length=40)
    ipus = models.PositiveIntegerField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(ipus__gt=0), name="pods_pod_has_ipus")]


class Occupancy(PublicModel):
    """Some IPUs of a pod for some time. PostgreSQL itself refuses two that overlap."""

    class Kind(models.TextChoices):
        RESERVATION = "reservation"
        JOB = "job"
        MAINTENANCE = "maintenance"

    pod = models.ForeignKey(Pod, on_delete=models.PROTECT, related_name="+")
    ipu_range = IntegerRangeField()
    during = DateTimeRangeField()
    kind = models.CharField(max_length=12, choices=Kind.choices)

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="pods_no_overlap",
                expressions=[
                    ("pod", RangeOperators.EQUAL),
                    ("ipu_range", RangeOperators.OVERLAPS),
                    ("during", RangeOperators.OVERLAPS),
                ],
            ),
        ]
