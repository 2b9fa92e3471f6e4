"""The ledger: balanced whatever happens, never overdrawn, never rewritten."""

import threading
from contextlib import suppress
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connections
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.credits import services as credits
from portal.credits.models import Account, Transfer
from portal.errors import PodiumError

GRANT = 1_000_000_000


def balance(person, kind: str = "wallet") -> int:
    with person.opened():
        return Account.objects.get(org_id=person.org_id, kind=kind).balance


def hold(person, amount: int, **extra):
    with person.opened():
        return credits.hold(
            org_id=person.org_id,
            project_id=person.project_id,
            amount=amount,
            purpose="job",
            reference_id=uuid4(),
            **extra,
        )


def settle(person, row, captured: int):
    with person.opened():
        return credits.settle(hold_id=row.id, captured=captured)


def assert_balanced(person) -> None:
    """Kept balances are what the transfers say, and all accounts together are zero."""
    with person.opened():
        rows = Transfer.objects.filter(org_id=person.org_id)
        total = 0
        for account in Account.objects.all():
            gained = rows.filter(credit=account).aggregate(n=Sum("amount"))["n"] or 0
            given_away = rows.filter(debit=account).aggregate(n=Sum("amount"))["n"] or 0
            total += gained - given_away
            if account.org_id:
                assert account.balance == gained - given_away
        assert total == 0


def test_signing_up_grants_credits(person):
    assert balance(person) == GRANT
    assert_balanced(person)


def test_hold_capture_and_refund(person):
    row = hold(person, 300)
    assert (balance(person), balance(person, "held")) == (GRANT - 300, 300)
    settled = settle(person, row, 100)
    assert settled.captured == 100
    assert (balance(person), balance(person, "held")) == (GRANT - 100, 0)
    assert_balanced(person)


def test_settling_twice_settles_once(person):
    row = hold(person, 300)
    settle(person, row, 0)
    assert settle(person, row, 300).captured == 0
    assert balance(person) == GRANT


def test_a_capture_is_never_more_than_the_hold(person):
    assert settle(person, hold(person, 300), 10_000).captured == 300
    assert_balanced(person)


def test_too_little_credit_is_refused_and_changes_nothing(person):
    with pytest.raises(PodiumError) as refused:
        hold(person, GRANT + 1)
    assert (refused.value.code, refused.value.status) == ("credits.insufficient", 402)
    assert refused.value.params == {"needed_microcredits": GRANT + 1, "balance_microcredits": GRANT}
    assert balance(person) == GRANT


def test_the_last_credit_is_spent_once(person):
    """Twelve threads want two thirds of the wallet at the same moment."""
    barrier, won, refused = threading.Barrier(12), [], []

    def race() -> None:
        barrier.wait()
        try:
            won.append(hold(person, GRANT * 2 // 3))
        except PodiumError as error:
            refused.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), refused) == (1, ["credits.insufficient"] * 11)
    assert_balanced(person)


def test_one_thing_has_one_open_hold(person):
    reference = uuid4()

    def again() -> None:
        with person.opened():
            credits.hold(
                org_id=person.org_id, project_id=person.project_id, amount=1, purpose="job", reference_id=reference
            )

    again()
    with pytest.raises(IntegrityError, match="credits_one_open_hold_a_thing"):
        again()


@pytest.mark.parametrize("statement", ["UPDATE credits_transfer SET amount = 1", "DELETE FROM credits_transfer"])
@pytest.mark.parametrize("alias", ["default", "system"])
def test_transfers_cannot_be_rewritten(statement, alias):
    with pytest.raises(ProgrammingError, match="permission denied"), connections[alias].cursor() as cursor:
        cursor.execute(statement)


def test_the_database_itself_refuses_an_overdraft(person):
    with pytest.raises(IntegrityError, match="credits_not_overdrawn"), person.opened():
        Account.objects.filter(org_id=person.org_id, kind="wallet").update(balance=-1)


def test_the_platforms_accounts_cannot_be_written_by_the_app(person):
    with pytest.raises(ProgrammingError, match="row-level security"), person.opened():
        Account.objects.filter(kind="issued").update(kind="revenue")


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(0, GRANT // 2), st.integers(0, GRANT)), max_size=6))
def test_any_order_of_holds_and_captures_balances(person, steps):
    for amount, captured in steps:
        with suppress(PodiumError):
            settle(person, hold(person, amount), captured)
    assert_balanced(person)


def test_the_ledger_is_told_newest_first(person):
    settle(person, hold(person, 300, note="Job 1"), 100)
    entries = person.browser().get(f"/api/v1/organizations/{person.org_id}/ledger").json()["results"]
    assert [(row["kind"], row["microcredits"], row["held_microcredits"]) for row in entries] == [
        ("refund", 200, -200),
        ("capture", 0, -100),
        ("hold", -300, 300),
        ("grant", GRANT, 0),
    ]
