"""Which of the occupied ranges are the asker's own. Apps above (reservations, jobs) register how to find out."""

from collections.abc import Callable, Collection, Mapping
from uuid import UUID

from portal.tenancy import Actor

Find = Callable[[Actor, Collection[UUID]], Mapping[UUID, UUID]]
_finders: dict[str, Find] = {}


def register_owner(kind: str, find: Find) -> None:
    """`find(actor, occupancy ids)` gives {occupancy id: id of the reservation or job}, for those the actor may see."""
    _finders[kind] = find


def own(actor: Actor, kind: str, occupancy_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
    """Ids of the actor's own things behind occupied ranges of one kind."""
    find = _finders.get(kind)
    return find(actor, occupancy_ids) if find and occupancy_ids else {}
