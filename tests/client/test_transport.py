"""Faults of the network: what is repeated, what is not, and what the caller is told."""

from typing import Any

import pytest

from podium_client import ConnectionLost, PodiumError
from podium_client import transport as transport_module
from podium_client.transport import Transport
from tests.client.wire import DROP, Request, problem, serve


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "FIRST_PAUSE_SECONDS", 0.01)


def failing(times: int, fault: Any) -> Any:
    left = [times]

    def answer(request: Request) -> Any:
        left[0] -= 1
        return fault if left[0] >= 0 else (200, {"fine": True})

    return answer


@pytest.mark.parametrize("fault", [DROP, (503, problem("unready")), (502, b"<html>"), (429, problem("throttled"))])
def test_a_read_is_repeated_until_it_is_answered(fault: Any) -> None:
    with serve(failing(3, fault)) as wire:
        assert Transport(wire.url, "").get("systems") == {"fine": True}
        assert len(wire.seen) == 4


def test_a_write_without_a_key_is_never_sent_twice() -> None:
    with serve(failing(1, DROP)) as wire:
        with pytest.raises(ConnectionLost):
            Transport(wire.url, "").post("uploads", {"name": "a"})
        assert len(wire.seen) == 1


def test_a_write_with_a_key_is_repeated_with_the_same_key() -> None:
    with serve(failing(2, DROP)) as wire:
        Transport(wire.url, "").post("jobs", {}, idempotency_key="k1")
        assert [request.headers["idempotency-key"] for request in wire.seen] == ["k1"] * 3


def test_a_refusal_carries_code_params_and_fields() -> None:
    fields = [{"field": "config.batch", "code": "too_large", "detail": "At most 10."}]
    answer = (422, problem("config.invalid", "Check the settings.", params={"a": 1}, errors=fields))
    with serve(lambda request: answer) as wire, pytest.raises(PodiumError) as caught:
        Transport(wire.url, "pod_x").post("jobs", {})
    assert (caught.value.code, caught.value.status, caught.value.exit_code) == ("config.invalid", 422, 2)
    assert (caught.value.params, caught.value.fields) == ({"a": 1}, fields)


def test_an_answer_that_is_not_podiums_is_named_as_such() -> None:
    with serve(lambda request: (404, b"<html>nginx</html>")) as wire, pytest.raises(PodiumError, match="not as Podium"):
        Transport(wire.url, "").get("systems")


def test_pages_are_read_to_the_end_and_only_from_our_server() -> None:
    def answer(request: Request) -> Any:
        if "cursor=2" in request.path:
            return 200, {"results": [{"n": 3}], "next": None}
        return 200, {"results": [{"n": 1}, {"n": 2}], "next": "https://elsewhere.example/api/v1/jobs?cursor=2"}

    with serve(answer) as wire:
        assert [row["n"] for row in Transport(wire.url, "pod_x").pages("jobs")] == [1, 2, 3]
        assert [request.path for request in wire.seen] == ["/api/v1/jobs", "/api/v1/jobs?cursor=2"]


def test_nobody_listening_is_told_in_one_sentence(unused_address: str) -> None:
    with pytest.raises(ConnectionLost, match="Is the server running"):
        Transport(unused_address, "").get("systems")


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(PodiumError, match="not the address"):
        Transport("podium.lab", "")


@pytest.fixture
def unused_address() -> str:
    with serve(lambda request: (200, {})) as wire:
        return wire.url
