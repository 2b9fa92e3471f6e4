"""What each route must say to a stranger. A route of the URLconf that stands in none of these tables fails the test.

`{name}` in an address stands for a thing of the owner (owner.py). Bodies are valid, so that nothing but the question
whose thing it is decides the answer.
"""

from typing import Any

# One thing of one tenant: a stranger gets 404 for every method, somebody signed out 401.
PRIVATE: dict[str, dict[str, Any]] = {
    "organizations/<uuid:org_id>": {"GET": None},
    "organizations/<uuid:org_id>/members": {
        "GET": None,
        "POST": {"email": "stranger@example.org", "role": "admin"},
    },
    "organizations/<uuid:org_id>/members/<uuid:user_id>": {"PATCH": {"role": "viewer"}, "DELETE": None},
    "organizations/<uuid:org_id>/ledger": {"GET": None},
    "organizations/<uuid:org_id>/audit": {"GET": None},
    "organizations/<uuid:org_id>/share": {"GET": None},
    "organizations/<uuid:org_id>/token-policy": {"GET": None, "PUT": {"most_days": 30}},
    "tokens/<uuid:token_id>": {"DELETE": None},
    "tokens/<uuid:token_id>/rotate": {"POST": {"overlap_hours": 1}},
    "uploads/<uuid:upload_id>": {"GET": None, "PUT": b"stolen"},
    "uploads/<uuid:upload_id>/complete": {"POST": {}},
    "models/<uuid:model_id>": {"GET": None, "DELETE": None},
    "models/<uuid:model_id>/file": {"GET": None},
    "reservations/<uuid:reservation_id>": {"GET": None, "DELETE": None},
    "estimates/<uuid:estimate_id>": {"GET": None},
    "jobs/<uuid:job_id>": {"GET": None},
    "jobs/<uuid:job_id>/why": {"GET": None},
    "jobs/<uuid:job_id>/cancel": {"POST": {}},
    "jobs/<uuid:job_id>/rerun": {"POST": {}},
    "jobs/<uuid:job_id>/events": {"GET": None},
    "jobs/<uuid:job_id>/report": {"GET": None},
    "jobs/<uuid:job_id>/artefacts": {"GET": None},
    "jobs/<uuid:job_id>/artefacts/<uuid:artefact_id>/file": {"GET": None},
}

# Lists of the caller's own rows: a stranger gets an answer in which nothing of the owner stands.
LISTS = (
    "organizations",
    "tokens",
    "models",
    "reservations",
    "jobs",
)

# Lists of the caller's own rows for browsers alone: a token gets 403, whoever's it is.
IN_PERSON = ("audit/mine",)

# For operators, in person: 404 to every other browser, 403 to tokens, 401 to somebody signed out.
OPERATORS: dict[str, dict[str, Any]] = {
    "audit": {"GET": None},
    "shares": {"GET": None},
    "workers": {"GET": None, "POST": {"draining": False}},
}

# Making something inside, or out of, what belongs to another: refused in the words for what is not there.
REFERENCES: dict[str, list[dict[str, Any]]] = {
    "tokens": [
        {"name": "t", "scopes": ["jobs:read"], "expires_in_days": 1, "organization_id": "{organization_id}"},
    ],
    "tokens/revoke-all": [{"organization_id": "{organization_id}"}],
    "tickets": [{"path": "/ws/of/another"}],
    "device/look": [{"user_code": "BBBB-BBBB"}],
    "device/decide": [{"user_code": "BBBB-BBBB", "approve": True, "organization_id": "{organization_id}"}],
    "uploads": [{"name": "m.onnx", "size": 10, "project_id": "{project_id}"}],
    "reservations": [
        {
            "pod_id": "{pod_id}", "ipus": 1, "starts_at": "{start}", "ends_at": "{end}",
            "zone": "UTC", "project_id": "{project_id}",
        },
    ],
    "estimates": [
        {"model": "{model_id}", "config": {"task": "infer", "system": "pod4", "ipus": 1}},
        {"model": "zoo:mnist", "config": {"task": "infer"}, "reservation_id": "{reservation_id}"},
        {
            "model": "zoo:mnist", "config": {"task": "infer", "system": "pod4", "ipus": 1},
            "project_id": "{project_id}",
        },
    ],
    "jobs": [
        {"model": "{model_id}", "config": {"task": "infer", "system": "pod4", "ipus": 1, "steps": 1}},
        {"model": "zoo:mnist", "config": {"task": "infer", "steps": 1}, "reservation_id": "{reservation_id}"},
        {
            "model": "zoo:mnist", "config": {"task": "infer", "system": "pod4", "ipus": 1, "steps": 1},
            "project_id": "{project_id}",
        },
    ],
}  # fmt: skip

# Open to everybody, each with the reason why that gives nothing of a tenant away.
PUBLIC: dict[str, str] = {
    "session": "tells the caller about the caller; the CSRF cookie is set here before anybody is signed in",
    "outbox": "exists in the embedded installation alone, and only for browsers on the same machine",
    "systems": "the catalogue of machines and prices",
    "zoo": "models that come with Podium",
    "datasets": "data sets that come with Podium",
    "suites": "leaderboards are public by design",
    "suites/<slug:slug>/board": "rows are snapshots, published by consent",
    "openapi.json": "the description of this API",
}

# Begun by whoever is not signed in yet, each with its reason.
PUBLIC_POSTS: dict[str, str] = {
    "device/begin": "a program asks to be let in; it is told its own codes alone",
    "device/token": "who holds a device code gets what a person has approved for it, once",
}

# The same for everybody who is signed in, each with its reason; somebody signed out gets 401.
SHARED: dict[str, str] = {
    "pods": "the inventory",
    "tokens/scopes": "what scopes open, by the caller's own role where an organization is named",
    "pods/<uuid:pod_id>/occupancy": "says when IPUs are taken, never by whom: clashes can be shown to strangers",
}

# Not ours, or not about anybody's things: address prefix and reason.
OUTSIDE: dict[str, str] = {
    "_allauth/": "sign-in: acts on the caller's own session and address only, by allauth",
    "accounts/": "allauth's callbacks, which act on the caller's own session only",
    "livez": "says that the process answers",
    "readyz": "says which of the services answer, without addresses",
    "api/docs": "shows the description of the API",
    "api/v1/^.*$": "an address that is none: always 404",
    "^(?:api|_allauth|static|assets|ws)/.*$": "an address that is none: always 404",
    "^.*$": "the front end's one page, the same for everybody",
}

# Kinds of topics of the socket.
PRIVATE_TOPICS = {"job": "{job_id}", "project": "{project_id}"}
PUBLIC_TOPICS = {
    "board": ("{slug}", "leaderboards are public; the hint says only that something changed"),
}
SHARED_TOPICS = {
    "pod": ("{pod_id}", "occupancy is shared without owners; the hint says only that something changed"),
}
