"""Slices over HTTP: who may book, what it costs, what is refused and what strangers see."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from portal import tenancy
from portal.credits.models import Account
from portal.pods.models import Occupancy, Pod
from portal.reservations import services
from portal.reservations.models import Reservation
from portal.tenancy import Role

GRANT = 1_000_000_000
_days = count(1)


@pytest.fixture
def start() -> datetime:
    return timezone.now().replace(microsecond=0) + timedelta(days=3 + next(_days))


@pytest.fixture
def pod() -> Pod:
    return Pod.objects.get(slug="pod64")


def body(pod, start, *, ipus=4, hours=2, **extra):
    return {
        "pod_id": str(pod.id),
        "ipus": ipus,
        "starts_at": start.isoformat(),
        "ends_at": (start + timedelta(hours=hours)).isoformat(),
        "zone": "Europe/London",
        **extra,
    }


def post(client, body, **headers):
    return client.post("/api/v1/reservations", body, content_type="application/json", headers=headers)


def wallet(person) -> tuple[int, int]:
    with person.opened():
        rows = dict(Account.objects.filter(org_id=person.org_id).values_list("kind", "balance"))
    return rows["wallet"], rows["held"]


def test_a_slice_is_booked_and_its_price_held(person, pod, start):
    made = post(person.browser(), body(pod, start))
    assert made.status_code == 201
    row = made.json()
    price = 4 * 2 * 1_100_000
    assert (row["ipus"], row["state"], row["zone"], row["price_microcredits"]) == (4, "booked", "Europe/London", price)
    assert row["pod"] == {"id": str(pod.id), "slug": "pod64", "name": pod.name, "system": "pod64"}
    assert datetime.fromisoformat(row["starts_at"]) == start
    assert wallet(person) == (GRANT - price, price)
    assert person.browser().get(f"/api/v1/reservations/{row['id']}").json() == row


def test_cancelling_before_it_begins_refunds_all(person, pod, start):
    row = post(person.browser(), body(pod, start)).json()
    cancelled = person.browser().delete(f"/api/v1/reservations/{row['id']}")
    assert cancelled.json()["state"] == "cancelled"
    assert wallet(person) == (GRANT, 0)
    assert post(person.browser(), body(pod, start, ipus=64)).status_code == 201


def test_cancelling_twice_is_refused(person, pod, start):
    row = post(person.browser(), body(pod, start)).json()
    person.browser().delete(f"/api/v1/reservations/{row['id']}")
    again = person.browser().delete(f"/api/v1/reservations/{row['id']}")
    assert (again.status_code, again.json()["code"]) == (409, "reservation.over")


def test_cancelling_while_it_runs_pays_the_time_that_has_passed(person):
    pod = Pod.objects.get(slug="pod128")
    row = post(person.browser(), body(pod, timezone.now() - timedelta(seconds=2), ipus=2)).json()
    assert row["state"] == "active"
    person.browser().delete(f"/api/v1/reservations/{row['id']}")
    left, held = wallet(person)
    paid = GRANT - left
    assert held == 0
    assert 2 * 1_200_000 * 2 / 3600 <= paid < 2 * 1_200_000 * 120 / 3600
    with tenancy.context(role="system"):
        occupied = Reservation.objects.get(id=row["id"]).occupancy
    assert occupied is not None
    assert occupied.during.upper <= timezone.now()


def test_the_ticker_captures_once_the_time_is_over(person, pod, start):
    row = post(person.browser(), body(pod, start)).json()
    later = start + timedelta(hours=3)
    assert services.settle_due(now=later) >= 1
    assert services.settle_due(now=later) == 0
    assert wallet(person) == (GRANT - row["price_microcredits"], 0)
    assert person.browser().get(f"/api/v1/reservations/{row['id']}").json()["state"] == "ended"


def test_an_overlap_shows_the_clash_without_its_owner(person, stranger, pod, start):
    post(stranger.browser(), body(pod, start, ipus=64, hours=1))
    refused = post(person.browser(), body(pod, start, ipus=8, hours=1))
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (409, "reservation.overlap")
    assert datetime.fromisoformat(problem["params"]["next_free"]) == start + timedelta(hours=1)
    (clash,) = problem["params"]["conflicts"]
    assert set(clash) == {"ipu_start", "ipus", "starts_at", "ends_at"}
    assert str(stranger.user.id) not in refused.content.decode()
    assert wallet(person) == (GRANT, 0)


def test_too_little_credit_books_nothing(person, start):
    pod = Pod.objects.get(slug="pod256")
    refused = post(person.browser(), body(pod, start, ipus=256, hours=24))
    assert (refused.status_code, refused.json()["code"]) == (402, "credits.insufficient")
    assert not Occupancy.objects.filter(pod=pod, during__contains=start + timedelta(hours=1)).exists()


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"starts_at": "2040-01-01T10:00:00"}, 422, "request.invalid"),
        ({"ipus": 3}, 422, "reservation.size_not_allowed"),
        ({"ipus": 0}, 422, "request.invalid"),
        ({"ipus": 4, "ipu_start": 2}, 422, "reservation.not_aligned"),
        ({"zone": "Mars/Olympus"}, 422, "request.invalid"),
        ({"ends_at": "2001-01-01T00:00:00Z"}, 422, "reservation.too_short"),
        ({"starts_at": "2001-01-01T00:00:00Z"}, 422, "reservation.in_the_past"),
        ({"pod_id": "018f0000-0000-7000-8000-000000000000"}, 404, "not_found"),
        ({"project_id": "018f0000-0000-7000-8000-000000000000"}, 404, "not_found"),
    ],
)
def test_refusals_say_why(person, pod, start, changes, status, code):
    refused = post(person.browser(), {**body(pod, start), **changes})
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert refused["Content-Type"] == "application/problem+json"
    if code == "reservation.size_not_allowed":
        assert refused.json()["params"] == {"allowed_sizes": [1, 2, 4, 8, 16, 32, 64]}


def test_a_naive_time_names_its_field(person, pod, start):
    refused = post(person.browser(), {**body(pod, start), "ends_at": "2040-01-01T10:00:00"}).json()
    assert [(error["field"], error["code"]) for error in refused["errors"]] == [("ends_at", "naive")]


def test_the_calendar_says_mine_and_nothing_about_others(person, stranger, pod, start):
    mine = post(person.browser(), body(pod, start, ipus=8)).json()
    post(stranger.browser(), body(pod, start, ipus=8))
    window = {"from": start.isoformat(), "to": (start + timedelta(hours=1)).isoformat()}
    rows = person.browser().get(f"/api/v1/pods/{pod.id}/occupancy", window).json()
    assert sorted((row["mine"], row["reservation_id"], row["job_id"]) for row in rows) == [
        (False, None, None),
        (True, mine["id"], None),
    ]


def test_strangers_find_nothing(person, stranger, pod, start):
    row = post(person.browser(), body(pod, start)).json()
    client = stranger.browser()
    assert client.get(f"/api/v1/reservations/{row['id']}").status_code == 404
    assert client.delete(f"/api/v1/reservations/{row['id']}").status_code == 404
    assert client.get("/api/v1/reservations").json()["results"] == []
    assert post(client, body(pod, start, project_id=str(person.project_id))).status_code == 404


def test_a_viewer_looks_but_does_not_book(person, new_person, pod, start):
    viewer = new_person(joins=person, role=Role.VIEWER)
    row = post(person.browser(), body(pod, start)).json()
    assert viewer.browser().get(f"/api/v1/reservations/{row['id']}").status_code == 200
    refused = post(viewer.browser(), body(pod, start, project_id=str(person.project_id)))
    assert (refused.status_code, refused.json()["code"]) == (403, "role.insufficient")
    assert viewer.browser().delete(f"/api/v1/reservations/{row['id']}").status_code == 403


def test_the_same_key_books_once(person, pod, start):
    first = post(person.browser(), body(pod, start), **{"Idempotency-Key": "k1"})
    again = post(person.browser(), body(pod, start), **{"Idempotency-Key": "k1"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len(person.browser().get("/api/v1/reservations").json()["results"]) == 1


def test_the_same_key_with_another_body_is_refused(person, stranger, pod, start):
    post(person.browser(), body(pod, start), **{"Idempotency-Key": "k1"})
    refused = post(person.browser(), body(pod, start, ipus=8), **{"Idempotency-Key": "k1"})
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency.key_reused")
    assert post(stranger.browser(), body(pod, start, ipus=8), **{"Idempotency-Key": "k1"}).status_code == 201


def test_a_refused_request_does_not_use_up_its_key(person, pod, start):
    assert post(person.browser(), body(pod, start, ipus=3), **{"Idempotency-Key": "k2"}).status_code == 422
    assert post(person.browser(), body(pod, start, ipus=4), **{"Idempotency-Key": "k2"}).status_code == 201


def test_the_list_narrows_by_pod_project_and_window(person, pod, start):
    row = post(person.browser(), body(pod, start)).json()
    client = person.browser()

    def ids(**query):
        return [found["id"] for found in client.get("/api/v1/reservations", query).json()["results"]]

    assert ids(pod_id=str(pod.id)) == ids(project_id=str(person.project_id)) == [row["id"]]
    assert ids(pod_id=str(Pod.objects.get(slug="m2000").id)) == []
    assert ids(**{"from": (start + timedelta(hours=1)).isoformat()}) == [row["id"]]
    assert ids(**{"from": (start + timedelta(hours=2)).isoformat()}) == []
    assert ids(to=start.isoformat()) == []


@given(minutes=st.integers(0, 600))
def test_states_follow_the_clock(minutes):
    begin = datetime(2040, 1, 1, tzinfo=UTC)
    row = Reservation(starts_at=begin + timedelta(minutes=100), ends_at=begin + timedelta(minutes=400), state="booked")
    expected = "booked" if minutes < 100 else "active" if minutes < 400 else "ended"
    assert row.state_at(begin + timedelta(minutes=minutes)) == expected
