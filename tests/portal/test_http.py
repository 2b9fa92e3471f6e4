"""What every answer shares: problems, request ids, headers, pages, health, the schema."""

import json

import pytest
import yaml
from django.test import Client

from portal.errors.handler import as_podium_error
from portal.http.schema import PROBLEM


def test_a_refusal_is_a_problem_document(client):
    answer = client.get("/api/v1/models", headers={"X-Request-ID": "from-the-caller-1"})
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    problem = answer.json()
    assert set(problem) == set(PROBLEM["required"])
    assert (problem["code"], problem["status"], problem["title"]) == ("auth.required", 401, "Unauthorized")
    assert problem["type"] == "/docs/errors/auth.required"
    assert problem["request_id"] == answer["X-Request-ID"] == "from-the-caller-1"


@pytest.mark.parametrize("given", ["", "short", "x" * 65, "with space here", 'quote"<script>', "line\tbreak1"])
def test_a_strange_request_id_is_replaced(client, given):
    answer = client.get("/livez", headers={"X-Request-ID": given})
    assert answer["X-Request-ID"] != given
    assert len(answer["X-Request-ID"]) == 36


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/v1/nothing/here", "", 404, "not_found"),
        ("GET", "/api/v2/session", "", 404, "not_found"),
        ("GET", "/api/v1/models/not-a-uuid", "", 404, "not_found"),
        ("DELETE", "/api/v1/session", "", 405, "request.method_not_allowed"),
        ("POST", "/api/v1/uploads", "{not json", 400, "request.malformed"),
        ("POST", "/api/v1/uploads", "[]", 422, "request.invalid"),
        ("POST", "/api/v1/uploads", '{"name": {"a": 1}, "size": "x"}', 422, "request.invalid"),
    ],
)
def test_every_wrong_request_is_told_in_the_same_shape(person, method, path, body, status, code):
    answer = person.browser().generic(method, path, body, "application/json")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer["Content-Type"] == "application/problem+json"


def test_another_media_type_is_refused(person):
    answer = person.browser().post("/api/v1/uploads", "x", content_type="text/plain")
    assert (answer.status_code, answer.json()["code"]) == (415, "request.unsupported_media_type")


def test_fields_are_named_one_by_one(person):
    problem = person.browser().post("/api/v1/uploads", "{}", content_type="application/json").json()
    assert {(error["field"], error["code"]) for error in problem["errors"]} == {
        ("name", "required"),
        ("size", "required"),
    }


def test_the_unforeseen_tells_nothing_of_the_inside():
    error = as_podium_error(ZeroDivisionError("secret table name"))
    assert (error.code, error.status) == ("internal", 500)
    assert "secret" not in error.message


def test_an_error_inside_a_view_is_internal_and_rolls_back(person, monkeypatch):
    from portal.organizations.models import Project
    from portal.registry import uploads

    def fail(**kwargs):
        Project.objects.create(org_id=person.org_id, slug="half-done", name="x")
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(uploads, "begin", fail)
    answer = person.browser().post("/api/v1/uploads", {"name": "m", "size": 1}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.content.decode()
    with person.opened():
        assert not Project.objects.filter(slug="half-done").exists()


def test_private_answers_are_not_cached(person):
    answer = person.browser().get("/api/v1/session")
    assert answer["Cache-Control"] == "no-store"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"


def test_the_policy_allows_no_foreign_and_no_inline_script(client):
    page = client.get("/", headers={"Host": "testserver"})
    policy = dict(part.strip().split(" ", 1) for part in page["Content-Security-Policy"].split(";"))
    assert policy["script-src"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["connect-src"] == "'self' ws://testserver"


def test_a_forged_host_is_refused():
    assert Client(headers={"Host": "evil.example"}).get("/api/v1/session").status_code == 400


def test_a_cursor_cannot_be_made_up(person):
    answer = person.browser().get("/api/v1/models", {"cursor": "made-up"})
    assert answer.status_code == 404


def test_readiness_names_each_check(client):
    checks = client.get("/readyz").json()["checks"]
    assert (checks["database"], checks["valkey"]) == ("ok", "ok")


def test_readiness_notices_a_lost_broker(client, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert answer.json()["checks"]["valkey"] != "ok"


@pytest.fixture(scope="module")
def schema() -> dict:
    from drf_spectacular.generators import SchemaGenerator

    return json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))


def test_every_operation_has_its_own_id_and_a_problem_answer(schema):
    operations = [
        operation for path in schema["paths"].values() for operation in path.values() if "operationId" in operation
    ]
    ids = [operation["operationId"] for operation in operations]
    assert len(ids) == len(set(ids)) > 25
    for operation in operations:
        assert "application/problem+json" in operation["responses"]["default"]["content"]
        assert len(operation["responses"]) > 1


def test_every_route_is_in_the_schema(schema):
    from tests.portal.test_tokens import routes

    documented = {path.replace("{", "<").replace("}", ">") for path in schema["paths"]}
    ours = {"/" + path.replace("uuid:", "").replace("slug:", "").replace("str:", "") for path, _ in routes()}
    assert ours - documented == set()


def test_the_schema_is_served_and_the_docs_use_our_own_files(client):
    served = client.get("/api/v1/openapi.json")
    assert yaml.safe_load(served.content)["info"]["title"] == "Podium"
    docs = client.get("/api/docs").content.decode()
    assert "http://" not in docs.replace("http://testserver", "")
    assert "https://" not in docs
