"""Accounts, transfers and holds.

A transfer names the account that gives and the one that gets: balanced by construction.
"""

from django.db import models
from django.db.models import F, Q

from portal.tenancy.tables import Row, TableClass, TenantModel


class Account(Row):
    """A wallet or the held credits of an organization; or one of the platform's two, which have no organization.

    `balance` is kept for organizations' accounts alone; the platform's is the sum of its transfers: no row is hot.
    """

    table_class = TableClass.TENANT

    class Kind(models.TextChoices):
        WALLET = "wallet"
        HELD = "held"
        ISSUED = "issued"
        REVENUE = "revenue"

    org_id = models.UUIDField(null=True, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    balance = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["org_id", "kind"], nulls_distinct=False, name="credits_one_account_a_kind"),
            models.CheckConstraint(condition=Q(balance__gte=0), name="credits_not_overdrawn"),
            models.CheckConstraint(
                condition=Q(kind__in=["wallet", "held"], org_id__isnull=False)
                | Q(kind__in=["issued", "revenue"], org_id__isnull=True, balance=0),
                name="credits_whose_account",
            ),
        ]


class Transfer(Row):
    """`amount` micro-credits from `debit` to `credit`, once. Rows are only ever added."""

    table_class = TableClass.TENANT

    class Kind(models.TextChoices):
        GRANT = "grant"
        HOLD = "hold"
        CAPTURE = "capture"
        REFUND = "refund"

    org_id = models.UUIDField(editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    debit = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    credit = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    amount = models.BigIntegerField()
    hold = models.ForeignKey("Hold", on_delete=models.PROTECT, null=True, related_name="+", db_constraint=False)
    note = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["org_id", "-id"], name="credits_ledger")]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="credits_amount_above_zero"),
            models.CheckConstraint(condition=~Q(debit=F("credit")), name="credits_two_accounts"),
        ]


class Hold(TenantModel):
    """Credits set aside for one thing (a job, a reservation), later captured in part or whole; the rest goes back."""

    purpose = models.CharField(max_length=20)
    reference_id = models.UUIDField()
    amount = models.BigIntegerField()
    captured = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["purpose", "reference_id"],
                condition=Q(settled_at__isnull=True),
                name="credits_one_open_hold_a_thing",
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=0) & (Q(captured__isnull=True) | Q(captured__gte=0, captured__lte=F("amount"))),
                name="credits_capture_within_hold",
            ),
        ]
