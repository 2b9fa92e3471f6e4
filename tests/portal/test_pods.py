"""Partitions after V-IPU's rules, and occupancy that PostgreSQL keeps free of overlaps."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connections
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange, NumericRange
from hypothesis import given
from hypothesis import strategies as st

from portal import tenancy
from portal.errors import PodiumError
from portal.pods import partitions, services
from portal.pods.models import Occupancy, Pod
from portal.pods.prices import price

_days = count(1)


@pytest.fixture
def day() -> datetime:
    """A day of its own for each test, so that they do not meet."""
    return datetime(2040, 1, 1, tzinfo=UTC) + timedelta(days=20 * next(_days))


@pytest.fixture
def pod() -> Pod:
    return Pod.objects.get(slug="pod16")


def book(pod, day, *, ipus=4, hours=1, after=0, start=None):
    begin = day + timedelta(hours=after)
    with tenancy.context():
        return services.book(
            pod_id=pod.id,
            ipus=ipus,
            starts_at=begin,
            ends_at=begin + timedelta(hours=hours),
            kind=Occupancy.Kind.RESERVATION,
            ipu_start=start,
        )


@given(
    total=st.sampled_from([4, 16, 64, 256]),
    sizes=st.lists(st.sampled_from([1, 2, 4, 8, 16, 64]), max_size=40),
)
def test_first_fit_is_aligned_disjoint_and_gives_up_only_when_full(total, sizes):
    taken: list[tuple[int, int]] = []
    for size in sizes:
        start = partitions.first_free(total, size, taken)
        if start is None:
            for candidate in range(0, total - size + 1, size):
                assert any(low < candidate + size and candidate < high for low, high in taken)
            continue
        assert partitions.is_legal(start, size, total)
        assert all(high <= start or start + size <= low for low, high in taken)
        taken.append((start, start + size))


@pytest.mark.parametrize(
    ("start", "ipus", "legal"),
    [
        (0, 4, True),
        (4, 4, True),
        (2, 4, False),
        (0, 3, False),
        (12, 8, False),
        (16, 1, False),
        (-4, 4, False),
        (0, 0, False),
    ],
)
def test_legal_partitions_of_a_pod16(start, ipus, legal):
    assert partitions.is_legal(start, ipus, 16) is legal


def test_prices_are_whole_and_rounded_up():
    assert price("pod4", ipu_milliseconds=3_600_000) == 1_000_000
    assert price("pod4", ipu_milliseconds=1) == 1
    assert price("pod64", ipu_milliseconds=64 * 3_600_000) == 70_400_000


def test_first_fit_fills_the_pod(pod, day):
    starts = [book(pod, day, ipus=size).ipu_range.lower for size in (4, 1, 8, 2)]
    assert starts == [0, 4, 8, 6]


def test_a_full_pod_tells_conflicts_and_when_it_is_next_free(pod, day):
    book(pod, day, ipus=16, hours=2)
    book(pod, day, ipus=8, hours=1, after=2)
    with pytest.raises(services.NoRoom) as refused:
        book(pod, day, ipus=16, hours=1)
    params = refused.value.params
    assert (refused.value.code, refused.value.status) == ("reservation.overlap", 409)
    assert params["next_free"] == (day + timedelta(hours=3)).isoformat()
    assert params["conflicts"] == [
        {
            "ipu_start": 0,
            "ipus": 16,
            "starts_at": day.isoformat(),
            "ends_at": (day + timedelta(hours=2)).isoformat(),
        }
    ]


def test_next_free_looks_at_the_wanted_ipus_alone(pod, day):
    book(pod, day, ipus=8, hours=5, start=0)
    book(pod, day, ipus=8, hours=1, start=8)
    with pytest.raises(services.NoRoom) as refused:
        book(pod, day, ipus=4, start=4)
    assert refused.value.params["next_free"] == (day + timedelta(hours=5)).isoformat()


def test_touching_ends_do_not_overlap(pod, day):
    book(pod, day, ipus=16)
    assert book(pod, day, ipus=16, after=1).ipu_range.lower == 0


@pytest.mark.parametrize(
    ("ipus", "start", "code"), [(3, None, "size_not_allowed"), (32, None, "size_not_allowed"), (4, 2, "not_aligned")]
)
def test_illegal_partitions_are_refused(pod, day, ipus, start, code):
    with pytest.raises(PodiumError) as refused:
        book(pod, day, ipus=ipus, start=start)
    assert (refused.value.code, refused.value.status) == (f"reservation.{code}", 422)


def test_a_race_for_the_last_place_is_won_once(pod, day):
    """Sixteen threads want half of the pod in the same hour: two of them get it."""
    barrier, won, lost = threading.Barrier(16), [], []

    def race() -> None:
        barrier.wait()
        try:
            won.append(book(pod, day, ipus=8).ipu_range.lower)
        except services.NoRoom:
            lost.append(1)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(won), len(lost)) == ([0, 8], 14)


def occupy(pod, low, high, begin, end):
    with tenancy.context():
        return Occupancy.objects.create(
            pod=pod, ipu_range=NumericRange(low, high), during=DateTimeTZRange(begin, end), kind="maintenance"
        )


def test_the_table_itself_refuses_an_overlap(pod, day):
    hour = timedelta(hours=1)
    occupy(pod, 0, 8, day, day + hour)
    with pytest.raises(IntegrityError, match="pods_no_overlap"):
        occupy(pod, 4, 8, day + hour / 2, day + 2 * hour)
    occupy(Pod.objects.get(slug="pod64"), 0, 8, day, day + hour)


@pytest.mark.parametrize(("low", "high"), [(0, 3), (2, 6), (4, 4)])
def test_the_table_itself_refuses_a_bad_partition(pod, day, low, high):
    with pytest.raises(IntegrityError, match=r"pods_partition|pods_bounded"):
        occupy(pod, low, high, day, day + timedelta(hours=1))


def test_the_table_itself_refuses_an_endless_occupancy(pod, day):
    with pytest.raises(IntegrityError, match="pods_bounded"):
        occupy(pod, 0, 4, day, None)


def test_releasing_shortens_or_removes(pod, day):
    begun, future = book(pod, day, hours=4), book(pod, day, hours=4, after=10)
    with tenancy.context():
        services.release(occupancy_id=begun.id, at=day + timedelta(hours=1))
        services.release(occupancy_id=begun.id, at=day + timedelta(hours=3))
        services.release(occupancy_id=future.id, at=day)
        services.release(occupancy_id=future.id, at=day)
    assert Occupancy.objects.get(id=begun.id).during.upper == day + timedelta(hours=1)
    assert not Occupancy.objects.filter(id=future.id).exists()


def test_maintenance_is_shown_to_everybody_and_blocks(pod, day, person):
    occupy(pod, 0, 16, day, day + timedelta(hours=1))
    with pytest.raises(services.NoRoom):
        book(pod, day)
    rows = person.browser().get(f"/api/v1/pods/{pod.id}/occupancy", {"from": day.isoformat()}).json()
    assert [(row["kind"], row["mine"], row["ipus"]) for row in rows] == [("maintenance", False, 16)]


def test_loading_the_catalogue_again_changes_nothing(capsys):
    before = list(Pod.objects.order_by("id").values())
    call_command("load_catalogue")
    assert list(Pod.objects.order_by("id").values()) == before
    assert {pod["slug"] for pod in before} >= {"m2000", "pod4", "pod16", "pod64", "pod128", "pod256"}


def test_systems_are_public_and_pods_are_not(client):
    systems = {row["id"]: row for row in client.get("/api/v1/systems").json()}
    assert systems["pod16"]["allowed_sizes"] == [1, 2, 4, 8, 16]
    assert systems["pod16"]["microcredits_per_ipu_hour"] == 1_000_000
    assert systems["bowpod64"]["microcredits_per_ipu_hour"] == 1_430_000
    assert systems["pod256"]["reservable"]
    assert not systems["pod65536"]["reservable"]
    assert systems["pod16"]["sources"]
    assert client.get("/api/v1/pods").status_code == 401
