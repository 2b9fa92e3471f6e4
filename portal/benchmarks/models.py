"""Facts of the boards: which suites there are, results published by others, and simulated results published by consent.

Board rows are snapshots that anybody may read; they never join into an organization's rows.
"""

from django.db import models

from portal.tenancy.tables import PublicModel


class Suite(PublicModel):
    """One version of a suite, as loaded from the code in `suites`."""

    slug = models.SlugField(max_length=100)
    version = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=50)
    unit = models.CharField(max_length=30)
    better = models.CharField(max_length=10)
    description = models.TextField()
    rules = models.JSONField()
    position = models.PositiveSmallIntegerField()
    current = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="benchmarks_suite_version")]


class PublishedRow(PublicModel):
    """A result that somebody else measured or claimed, with its source; shown beside a board, never ranked on it."""

    class Label(models.TextChoices):
        """Whose word it is."""

        PUBLISHED = "Published"
        VENDOR_CLAIM = "Vendor claim"

    suite_slug = models.SlugField(max_length=100)
    key = models.CharField(max_length=200)
    position = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=20, choices=Label)
    source = models.CharField(max_length=300)
    round = models.CharField(max_length=50, blank=True)
    division = models.CharField(max_length=20, blank=True)
    system = models.CharField(max_length=200)
    chips = models.PositiveIntegerField(null=True)
    model = models.CharField(max_length=100)
    framework = models.CharField(max_length=200, blank=True)
    metric = models.CharField(max_length=50)
    value = models.FloatField()
    unit = models.CharField(max_length=100)
    notes = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["suite_slug", "key"], name="benchmarks_published_key")]


class BoardEntry(PublicModel):
    """A simulated result. `fingerprint` is what makes two runs compete for one place: the better of them is shown."""

    suite_slug = models.SlugField(max_length=100)
    suite_version = models.PositiveSmallIntegerField()
    job_id = models.UUIDField(unique=True)
    org_id = models.UUIDField()
    fingerprint = models.CharField(max_length=64)
    organization_name = models.CharField(max_length=200)
    system = models.CharField(max_length=50)
    ipus = models.PositiveIntegerField()
    model_name = models.CharField(max_length=255)
    value = models.FloatField()
    unit = models.CharField(max_length=30)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    global_batch = models.PositiveIntegerField()
    precision = models.CharField(max_length=10)
    engine_release = models.CharField(max_length=50)
    achieved_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["suite_slug", "fingerprint", "value"], name="benchmarks_entry_rank")]
