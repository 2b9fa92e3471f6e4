"""Scopes that a token can have.

Making and revoking tokens is for signed-in people alone, so there is no tokens:write.
"""

SCOPES = (
    "audit:read",
    "boards:read",
    "jobs:read",
    "jobs:write",
    "models:read",
    "models:write",
    "organizations:read",
    "organizations:write",
    "pods:read",
    "reservations:read",
    "reservations:write",
    "tokens:read",
)
