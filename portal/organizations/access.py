"""What a person may reach: their roles, and the checks that verbs begin with."""

from collections.abc import Collection
from uuid import UUID

from portal import tenancy
from portal.accounts.models import User
from portal.errors import NotFound, PodiumError
from portal.organizations.models import Membership, Organization, Project
from portal.tenancy import Actor, Role


def actor_of(user: User) -> Actor:
    """The person with all their roles, as a session has them."""
    with tenancy.context(user_id=user.id):
        roles = roles_of([user.id])[user.id]
    return Actor(user_id=user.id, roles=roles, is_operator=user.is_operator)


def roles_of(user_ids: Collection[UUID]) -> dict[UUID, dict[UUID, Role]]:
    """The roles of each person by organization. In a tenancy context: a person's own, or the system's for several."""
    found: dict[UUID, dict[UUID, Role]] = {user_id: {} for user_id in user_ids}
    rows = Membership.objects.filter(user_id__in=list(user_ids)).order_by("id")
    for user_id, org_id, role in rows.values_list("user_id", "org_id", "role"):
        found[user_id][org_id] = Role(role)
    return found


def require(actor: Actor, org_id: UUID, needed: Role) -> Role:
    """The actor's role in the organization; a stranger is told that it does not exist, a weaker role is refused."""
    role = actor.roles.get(org_id)
    if role is None:
        raise NotFound
    if not role.reaches(needed):
        raise PodiumError(
            "role.insufficient",
            f"This needs the role {needed} in the organization, and yours is {role}: ask an owner.",
            status=403,
            params={"needed": needed.value, "role": role.value},
        )
    return role


def project_for(actor: Actor, project_id: UUID | None, needed: Role = Role.MEMBER) -> Project:
    """The project to create in: the one named, else the token's, else the personal organization's default."""
    chosen = project_id or actor.project_id
    if actor.project_id and chosen != actor.project_id:
        raise NotFound
    if chosen is None:
        project = _default_project(actor)
    else:
        project = Project.objects.filter(id=chosen, org_id__in=actor.org_ids).first()
    if project is None:
        raise NotFound
    require(actor, project.org_id, needed)
    return project


def _default_project(actor: Actor) -> Project | None:
    personal = Organization.objects.filter(id__in=actor.org_ids, personal_of=actor.user_id).first()
    candidates = Project.objects.filter(org_id__in=[personal.id] if personal else actor.org_ids, is_default=True)
    return candidates.order_by("org_id").first()


def may_watch_project(actor: Actor | None, project_id: str) -> bool:
    """Whether the actor may be told that something changed in the project."""
    try:
        wanted = UUID(project_id)
    except ValueError:
        return False
    if actor is None or (actor.project_id and actor.project_id != wanted):
        return False
    return Project.objects.filter(id=wanted, org_id__in=actor.org_ids).exists()
