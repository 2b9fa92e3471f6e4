"""Who is acting and how far they reach, as plain data.

It is loaded by organizations (sessions) and tokens (bearers).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class Role(StrEnum):
    """Roles in an organization, weakest first: a viewer only reads."""

    VIEWER = "viewer"
    MEMBER = "member"
    ADMIN = "admin"
    OWNER = "owner"

    def reaches(self, needed: "Role") -> bool:
        """True when this role includes what `needed` may do."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, or a token of theirs.

    `roles` maps each organization within reach to the person's role there; `scopes` is None for a session (all of
    them); `project_id` narrows a token to one project; `token_id` is None for a session.
    """

    user_id: UUID
    roles: Mapping[UUID, Role] = field(default_factory=dict)
    scopes: frozenset[str] | None = None
    project_id: UUID | None = None
    token_id: UUID | None = None
    is_operator: bool = False

    @property
    def org_ids(self) -> tuple[UUID, ...]:
        return tuple(self.roles)

    @property
    def is_session(self) -> bool:
        return self.token_id is None

    def has_scope(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes
