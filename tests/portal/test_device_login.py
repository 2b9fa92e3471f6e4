"""Device login: a code that cannot be guessed, a person who sees what they approve, a token that is given out once."""

import threading
from datetime import timedelta

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from portal import tenancy
from portal.organizations.models import Membership
from portal.tokens import device
from portal.tokens.device_api import GRANT
from portal.tokens.models import DeviceGuess, DeviceRequest
from tests.portal.test_tokens import get, post


def begin(scope="jobs:read models:read", client=None):
    answer = post(client or Client(), "device/begin", client_id="laptop", scope=scope)
    assert answer.status_code == 200, answer.content
    return answer.json()


def redeem(begun):
    return post(Client(), "device/token", grant_type=GRANT, device_code=begun["device_code"])


def decide(person, begun, approve=True, **more):
    body = {"user_code": begun["user_code"], "approve": approve, "organization_id": str(person.org_id), **more}
    return post(person.browser(), "device/decide", **body)


def later(seconds=6):
    """As if the program had waited."""
    with tenancy.context(role="system"):
        DeviceRequest.objects.update(polled_at=timezone.now() - timedelta(seconds=seconds))


def test_a_person_lets_a_program_in(person):
    begun = begin()
    assert begun["verification_uri_complete"].endswith(f"/device?code={begun['user_code']}")
    assert (begun["expires_in"], begun["interval"]) == (600, 5)
    seen = post(person.browser(), "device/look", user_code=begun["user_code"].lower()).json()
    assert (seen["client"], seen["scopes"], seen["address"]) == ("laptop", ["jobs:read", "models:read"], "127.0.0.1")
    assert redeem(begun).json()["error"] == "authorization_pending"
    assert decide(person, begun, expires_in_days=3).status_code == 204
    later()
    given = redeem(begun).json()
    assert (given["token_type"], given["scope"]) == ("Bearer", "jobs:read models:read")
    assert given["expires_in"] <= 3 * 24 * 3600
    assert get(given["access_token"]).status_code == 200
    assert get(given["access_token"], "/api/v1/pods").json()["code"] == "auth.scope_missing"
    later()
    assert redeem(begun).json()["error"] == "invalid_grant"


def test_forms_are_understood_as_the_rfc_writes_them():
    form = "application/x-www-form-urlencoded"
    answer = Client().post("/api/v1/device/begin", "client_id=c&scope=jobs%3Aread+models%3Aread", content_type=form)
    assert answer.status_code == 200


def test_haste_is_slowed_down():
    begun = begin()
    assert redeem(begun).json()["error"] == "authorization_pending"
    assert redeem(begun).json()["error"] == "slow_down"
    later(7)
    assert redeem(begun).json()["error"] == "slow_down"
    later(60)
    refused = redeem(begun)
    assert (refused.status_code, refused.json()["code"]) == (400, "device.authorization_pending")


def test_a_program_is_turned_away(person):
    begun = begin()
    assert decide(person, begun, approve=False).status_code == 204
    assert redeem(begun).json()["error"] == "access_denied"
    assert decide(person, begun).status_code == 404


def test_codes_last_ten_minutes(person):
    begun = begin()
    with tenancy.context(role="system"):
        DeviceRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert redeem(begun).json()["error"] == "expired_token"
    assert decide(person, begun).status_code == 404


def test_old_requests_are_forgotten():
    begin()
    with tenancy.context(role="system"):
        DeviceRequest.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    assert device.expire() >= 1


@pytest.mark.parametrize("code", ["", "x" * 43, "pod_" + "x" * 46])
def test_a_made_up_device_code_gives_nothing(code):
    answer = post(Client(), "device/token", grant_type=GRANT, device_code=code)
    assert answer.status_code in (400, 422)


def test_codes_are_not_stored(person):
    begun = begin()
    with tenancy.context(role="system"), connections["system"].cursor() as cursor:
        cursor.execute("SELECT d::text FROM tokens_devicerequest d")
        stored = str(cursor.fetchall())
    assert begun["device_code"] not in stored
    assert begun["user_code"].replace("-", "") not in stored


def test_the_application_role_sees_no_request(person):
    begin()
    with person.opened():
        assert DeviceRequest.objects.count() == DeviceGuess.objects.count() == 0


def test_guesses_are_counted(person):
    begun = begin()
    client = person.browser()
    for number in range(device.MOST_GUESSES):
        assert post(client, "device/look", user_code=f"BBBB-BBB{device.LETTERS[number]}").status_code == 404
    refused = post(client, "device/look", user_code=begun["user_code"])
    assert (refused.status_code, refused.json()["code"]) == (429, "device.too_many_guesses")
    assert refused["Retry-After"] == "600"
    assert decide(person, begun).status_code == 429


def test_only_somebody_signed_in_decides(person, stranger):
    begun = begin()
    body = {"user_code": begun["user_code"], "approve": True, "organization_id": str(person.org_id)}
    assert post(Client(), "device/decide", **body).status_code == 401
    assert post(person.bearer("jobs:read"), "device/decide", **body).json()["code"] == "auth.session_only"
    assert post(person.bearer("jobs:read"), "device/look", user_code=begun["user_code"]).status_code == 403
    assert post(stranger.browser(), "device/decide", **body).status_code == 404
    assert redeem(begun).json()["error"] == "authorization_pending"


def test_nothing_is_given_to_somebody_who_has_left(person, new_person):
    guest = new_person(joins=person)
    begun = begin()
    body = {"user_code": begun["user_code"], "approve": True, "organization_id": str(person.org_id)}
    assert post(guest.browser(), "device/decide", **body).status_code == 204
    with person.opened():
        Membership.objects.filter(org_id=person.org_id, user=guest.user).delete()
    assert redeem(begun).json()["error"] == "access_denied"


def test_the_limit_of_the_organization_holds(person):
    address = f"/api/v1/organizations/{person.org_id}/token-policy"
    person.browser().put(address, {"most_days": 3}, content_type="application/json")
    assert decide(person, begin(), expires_in_days=4).json()["code"] == "token.too_long"


def test_unknown_scopes_are_refused_at_once():
    answer = post(Client(), "device/begin", client_id="laptop", scope="everything")
    assert answer.json()["code"] == "token.unknown_scope"


def test_one_address_cannot_fill_the_table(monkeypatch):
    monkeypatch.setattr(device, "MOST_OPEN", 2)
    client = Client(REMOTE_ADDR="192.0.2.99")
    for _ in range(2):
        begin(client=client)
    refused = post(client, "device/begin", client_id="laptop", scope="jobs:read")
    assert (refused.status_code, refused.json()["code"]) == (429, "device.too_many")


def test_twenty_programs_with_one_code_get_one_token(person):
    begun = begin()
    decide(person, begun)
    barrier, answers = threading.Barrier(20), []

    def ask() -> None:
        barrier.wait(30)
        answers.append(redeem(begun).json())
        connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum("access_token" in answer for answer in answers) == 1
