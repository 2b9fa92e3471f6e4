"""Verbs on credits.

Amounts are whole micro-credits. Both accounts of an organization are locked in one order, wallet first.
"""

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from portal import tenancy
from portal.audit import services as audit
from portal.credits.models import Account, Hold, Transfer
from portal.errors import PodiumError
from portal.tenancy import Actor

Kind = Account.Kind


def open_wallet(*, org_id: UUID) -> None:
    """Give a new organization its two accounts and the credits that everybody starts with."""
    with tenancy.atomic():
        Account.objects.bulk_create([Account(org_id=org_id, kind=kind) for kind in (Kind.WALLET, Kind.HELD)])
        if settings.SIGNUP_GRANT_MICROCREDITS:
            grant(org_id=org_id, amount=settings.SIGNUP_GRANT_MICROCREDITS, note="Welcome to Podium")


def grant(*, org_id: UUID, amount: int, note: str, actor: Actor | None = None) -> Transfer:
    """Issue credits to an organization's wallet; without an actor it is the platform that does."""
    with tenancy.atomic():
        wallet, _ = _lock(org_id)
        facts = {"microcredits": amount}
        audit.record("credits.granted", actor=actor, org_id=org_id, target_id=org_id, label=note, after=facts)
        return _move(Transfer.Kind.GRANT, _platform(Kind.ISSUED), wallet, amount, org_id=org_id, note=note)


def hold(*, org_id: UUID, project_id: UUID, amount: int, purpose: str, reference_id: UUID, note: str = "") -> Hold:
    """Set credits aside; refused with `credits.insufficient` (402) when the wallet has less. Zero is a hold too."""
    with tenancy.atomic():
        wallet, held = _lock(org_id)
        if wallet.balance < amount:
            raise PodiumError(
                "credits.insufficient",
                "There are not enough credits for this: choose fewer IPUs or less time, or ask an owner for more.",
                status=402,
                params={"needed_microcredits": amount, "balance_microcredits": wallet.balance},
            )
        row = Hold.objects.create(
            org_id=org_id, project_id=project_id, amount=amount, purpose=purpose, reference_id=reference_id
        )
        if amount:
            _move(Transfer.Kind.HOLD, wallet, held, amount, org_id=org_id, hold=row, note=note)
        return row


def settle(*, hold_id: UUID, captured: int, note: str = "") -> Hold:
    """Capture part of a hold (at most all of it) and refund the rest. A hold that is settled stays as it is."""
    with tenancy.atomic():
        org_id = Hold.objects.values_list("org_id", flat=True).get(id=hold_id)
        wallet, held = _lock(org_id)
        row = Hold.objects.select_for_update().get(id=hold_id)
        if row.settled_at is not None:
            return row
        row.captured, row.settled_at = max(0, min(captured, row.amount)), timezone.now()
        row.save(update_fields=["captured", "settled_at"])
        if row.captured:
            revenue = _platform(Kind.REVENUE)
            _move(Transfer.Kind.CAPTURE, held, revenue, row.captured, org_id=org_id, hold=row, note=note)
        if row.amount > row.captured:
            _move(Transfer.Kind.REFUND, held, wallet, row.amount - row.captured, org_id=org_id, hold=row, note=note)
        return row


def _lock(org_id: UUID) -> tuple[Account, Account]:
    rows = (
        Account.objects.select_for_update().filter(org_id=org_id, kind__in=[Kind.WALLET, Kind.HELD]).order_by("-kind")
    )
    wallet, held = rows
    return wallet, held


def _platform(kind: Account.Kind) -> Account:
    return Account.objects.get(org_id=None, kind=kind)


def _move(
    kind: Transfer.Kind,
    debit: Account,
    credit: Account,
    amount: int,
    *,
    org_id: UUID,
    hold: Hold | None = None,
    note: str = "",
) -> Transfer:
    """Write the transfer and bring the kept balances along."""
    for account, change in ((debit, -amount), (credit, amount)):
        if account.org_id is not None:
            Account.objects.filter(id=account.id).update(balance=F("balance") + change)
    return Transfer.objects.create(
        kind=kind, debit=debit, credit=credit, amount=amount, org_id=org_id, hold=hold, note=note[:120]
    )


def balances(org_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Micro-credits in the wallet of each organization."""
    rows = Account.objects.filter(org_id__in=list(org_ids), kind=Kind.WALLET)
    return {org_id: balance for org_id, balance in rows.values_list("org_id", "balance") if org_id}
