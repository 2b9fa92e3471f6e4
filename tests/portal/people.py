"""Somebody for the portal's tests: a confirmed person with an organization, a browser and tokens."""

from dataclasses import dataclass
from functools import cache
from itertools import count
from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.test import Client

from portal import tenancy
from portal.accounts.models import User
from portal.organizations.access import actor_of
from portal.organizations.models import Project
from portal.organizations.services import add_member, ensure_personal
from portal.tenancy import Actor, Role
from portal.tokens import services as tokens

_numbers = count(1)
PASSWORD = "correct horse battery"


@cache
def _hashed() -> str:
    """Hashing is slow on purpose, so it is done once."""
    return make_password(PASSWORD)


@dataclass(frozen=True)
class Person:
    """Somebody with a personal organization."""

    user: User
    org_id: UUID
    project_id: UUID

    @property
    def actor(self) -> Actor:
        return actor_of(self.user)

    def browser(self) -> Client:
        """A signed-in browser; it does not check CSRF, as the tests of that make their own."""
        client = Client()
        client.force_login(self.user)
        return client

    def secret(self, *scopes: str, project_id: UUID | None = None) -> str:
        """A token's secret."""
        with tenancy.context(user_id=self.user.id, org_ids=[self.org_id]):
            _, secret = tokens.create(
                actor=self.actor, name="t", scopes=scopes, expires_in_days=1, org_id=self.org_id, project_id=project_id
            )
        return secret

    def bearer(self, *scopes: str) -> Client:
        """A client that sends a token with these scopes."""
        return Client(headers={"Authorization": f"Bearer {self.secret(*scopes)}"})

    def opened(self, role: str = "app"):
        return tenancy.context(user_id=self.user.id, org_ids=self.actor.org_ids)


def make_person(*, joins: Person | None = None, role: Role = Role.MEMBER) -> Person:
    """A new person, optionally also with a role in another one's organization."""
    email = f"person{next(_numbers)}-{tenancy.uuid7().hex[-8:]}@example.org"
    user = User.objects.create(email=email, name="Ada Person", password=_hashed())
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    org_id = ensure_personal(user=user)
    with tenancy.context(org_ids=[org_id]):
        project_id = Project.objects.values_list("id", flat=True).get(org_id=org_id)
    if joins:
        with joins.opened():
            add_member(actor=joins.actor, org_id=joins.org_id, email=email, role=role)
    return Person(user, org_id, project_id)
