"""Verbs on organizations and their members."""

import re
from uuid import UUID

from django.db import IntegrityError

from portal import tenancy
from portal.accounts.models import User
from portal.audit import services as audit
from portal.errors import NotFound, PodiumError
from portal.events import publish
from portal.organizations.access import require
from portal.organizations.events import MembershipChanged, organization_created
from portal.organizations.models import Membership, Organization, Project
from portal.tenancy import Actor, Role, uuid7


def ensure_personal(*, user: User) -> UUID:
    """The id of the person's own organization, made with a default project when it is not there yet."""
    with tenancy.context(user_id=user.id):
        found = Organization.objects.filter(personal_of=user.id).values_list("id", flat=True).first()
    if found:
        return found
    org_id = uuid7()
    try:
        with tenancy.context(user_id=user.id, org_ids=[org_id]):
            _create(org_id=org_id, name=user.get_full_name(), personal_of=user)
    except IntegrityError:
        # Somebody signed the same person in at the same moment and was first.
        with tenancy.context(user_id=user.id):
            return Organization.objects.values_list("id", flat=True).get(personal_of=user.id)
    return org_id


def _create(*, org_id: UUID, name: str, personal_of: User) -> None:
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "lab"
    Organization.objects.create(id=org_id, slug=f"{stem}-{str(org_id)[-6:]}", name=name, personal_of=personal_of)
    project = Project.objects.create(org_id=org_id, slug="default", name="Default", is_default=True)
    Membership.objects.create(org_id=org_id, user=personal_of, role=Role.OWNER)
    organization_created.send(Organization, org_id=org_id, project_id=project.id)
    audit.record(
        "organization.created", actor=Actor(user_id=personal_of.id), org_id=org_id, target_id=org_id, label=name
    )


def add_member(*, actor: Actor, org_id: UUID, email: str, role: Role) -> Membership:
    """Give a confirmed account a role. An admin cannot make an owner."""
    require(actor, org_id, Role.OWNER if role is Role.OWNER else Role.ADMIN)
    user = User.objects.filter(email=email.lower(), is_active=True, emailaddress__verified=True).first()
    if user is None:
        raise PodiumError(
            "member.unknown_address",
            "Nobody with this address has signed up and confirmed it: ask them to do so first.",
            status=422,
            fields={"email": ("unknown_address", "Nobody has confirmed this address.")},
        )
    if Membership.objects.filter(org_id=org_id, user=user).exists():
        raise PodiumError("member.exists", "This person is a member already: change their role instead.", status=409)
    with tenancy.atomic():
        membership = Membership.objects.create(org_id=org_id, user=user, role=role)
        _tell("member.added", actor, membership, after={"role": role})
    publish(MembershipChanged(org_id, user.id))
    return membership


def change_role(*, actor: Actor, org_id: UUID, user_id: UUID, role: Role) -> Membership:
    """Give a member another role; only owners make and unmake owners, and one owner always stays."""
    with tenancy.atomic():
        membership = _locked(org_id, user_id)
        owners_matter = Role.OWNER in (role, membership.role)
        require(actor, org_id, Role.OWNER if owners_matter else Role.ADMIN)
        if membership.role == Role.OWNER and role is not Role.OWNER:
            _keep_an_owner(org_id, user_id)
        before, membership.role = membership.role, role
        membership.save(update_fields=["role"])
        _tell("member.role_changed", actor, membership, before={"role": before}, after={"role": role})
        publish(MembershipChanged(org_id, user_id))
    return membership


def remove_member(*, actor: Actor, org_id: UUID, user_id: UUID) -> None:
    """Take a membership away; anybody may leave, but the last owner cannot."""
    with tenancy.atomic():
        membership = _locked(org_id, user_id)
        if user_id != actor.user_id:
            require(actor, org_id, Role.OWNER if membership.role == Role.OWNER else Role.ADMIN)
        if membership.role == Role.OWNER:
            _keep_an_owner(org_id, user_id)
        _tell("member.removed", actor, membership, before={"role": membership.role})
        membership.delete()
        publish(MembershipChanged(org_id, user_id))


def _tell(action: str, actor: Actor, membership: Membership, **facts: dict[str, str]) -> None:
    audit.record(
        action,
        actor=actor,
        org_id=membership.org_id,
        target_id=membership.user_id,
        label=membership.user.email,
        before=facts.get("before"),
        after=facts.get("after"),
    )


def _locked(org_id: UUID, user_id: UUID) -> Membership:
    """The membership, with all owners of the organization locked, so that two owners cannot leave at once."""
    list(Membership.objects.filter(org_id=org_id, role=Role.OWNER).order_by("id").select_for_update())
    membership = Membership.objects.filter(org_id=org_id, user_id=user_id).select_for_update().first()
    if membership is None:
        raise NotFound
    return membership


def _keep_an_owner(org_id: UUID, leaving: UUID) -> None:
    if not Membership.objects.filter(org_id=org_id, role=Role.OWNER).exclude(user_id=leaving).exists():
        raise PodiumError(
            "member.last_owner",
            "The last owner cannot leave or step down: make somebody else an owner first.",
            status=409,
        )
