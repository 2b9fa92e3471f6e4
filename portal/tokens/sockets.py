"""Who opens a socket, the bearer of a token or the person of a ticket, and whether they may stay."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from portal import tenancy
from portal.accounts.models import User
from portal.errors import PodiumError
from portal.live.door import Admission, Closing, Knock
from portal.organizations.access import roles_of
from portal.tenancy import Actor, Role
from portal.tokens import tickets
from portal.tokens.authentication import actor_of_token
from portal.tokens.models import Token

UNKNOWN = Closing(4401, "auth.invalid")
BAD_TICKET = Closing(4401, "ticket.invalid")
REVOKED = Closing(4410, "token.revoked")
EXPIRED = Closing(4411, "token.expired")
SIGNED_OUT = Closing(4412, "session.ended")
SUSPENDED = Closing(4413, "person.suspended")
LEFT = Closing(4414, "membership.ended")
ELSEWHERE = Closing(4415, "token.wrong_network")


@dataclass(frozen=True, slots=True)
class ByToken:
    token_id: UUID


@dataclass(frozen=True, slots=True)
class BySession:
    user_id: UUID
    key: str


class PodiumDoor:
    """The door of /ws/v1."""

    def admit(self, knock: Knock) -> Admission:
        """A bearer is judged alone, then a ticket; with neither, a page that is signed out comes in."""
        if knock.bearer is not None:
            return _by_bearer(knock.bearer, knock.address)
        if knock.ticket is None:
            return Admission()
        redeemed = tickets.redeem(ticket=knock.ticket, path=knock.path)
        if redeemed is None:
            raise BAD_TICKET
        credential = BySession(redeemed.user_id, redeemed.session_key)
        outcome = self.recheck([credential])[credential]
        if isinstance(outcome, Closing):
            raise outcome
        return Admission(outcome, credential)

    def recheck(self, credentials: Collection[Hashable]) -> Mapping[Hashable, Actor | Closing]:
        """Four questions to the database, however many sockets there are."""
        with tenancy.context(role="system"):
            now = timezone.now()
            by_token = [one for one in credentials if isinstance(one, ByToken)]
            by_session = [one for one in credentials if isinstance(one, BySession)]
            tokens = {row.id: row for row in Token.objects.filter(id__in=[one.token_id for one in by_token])}
            keys = [one.key for one in by_session]
            sessions = {row.session_key: row for row in Session.objects.filter(session_key__in=keys)}
            wanted = {row.user_id for row in tokens.values()} | {one.user_id for one in by_session}
            people = {user.id: user for user in User.objects.filter(id__in=wanted)}
            roles = roles_of(people)
        found: dict[Hashable, Actor | Closing] = {}
        for token in by_token:
            found[token] = _judge_token(tokens.get(token.token_id), people, roles, now)
        for session in by_session:
            found[session] = _judge_session(sessions.get(session.key), people.get(session.user_id), roles, now)
        return found


def _by_bearer(secret: str, address: str | None) -> Admission:
    try:
        actor = actor_of_token(secret, address)
    except PodiumError as refusal:
        raise (EXPIRED if refusal.code == "token.expired" else ELSEWHERE) from refusal
    if actor is None or actor.token_id is None:
        raise UNKNOWN
    return Admission(actor, ByToken(actor.token_id))


def _judge_token(
    row: Token | None, people: Mapping[UUID, User], roles: Mapping[UUID, Mapping[UUID, Role]], now: datetime
) -> Actor | Closing:
    if row is None or row.revoked_at:
        return REVOKED
    if row.expires_at <= now:
        return EXPIRED
    user = people.get(row.user_id)
    if user is None or not user.is_active:
        return SUSPENDED
    role = roles[row.user_id].get(row.org_id)
    if role is None:
        return LEFT
    return Actor(
        user_id=row.user_id,
        roles={row.org_id: role},
        scopes=frozenset(row.scopes),
        project_id=row.project_id,
        token_id=row.id,
    )


def _judge_session(
    row: Session | None, user: User | None, roles: Mapping[UUID, Mapping[UUID, Role]], now: datetime
) -> Actor | Closing:
    """The session must be alive, the person's, and made with the present password."""
    if user is None or not user.is_active:
        return SUSPENDED
    facts = row.get_decoded() if row is not None and row.expire_date > now else {}
    same = constant_time_compare(str(facts.get(HASH_SESSION_KEY, "")), user.get_session_auth_hash())
    if str(facts.get(SESSION_KEY)) != str(user.pk) or not same:
        return SIGNED_OUT
    return Actor(user_id=user.id, roles=roles[user.id], is_operator=user.is_operator)
