"""How often one person, or one address that has not signed in, may ask.

Counts live in Valkey; without it nobody is refused.
"""

import logging
from typing import Any

from django.core.cache import caches
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from portal.tenancy import Actor

logger = logging.getLogger(__name__)


class _Throttle(SimpleRateThrottle):
    def allow_request(self, request: Request, view: Any) -> bool:
        try:
            return super().allow_request(request, view)
        except RedisError as error:
            logger.warning("Rates are not limited while Valkey is away: %s", error)
            return True

    cache = caches["default"]


class PersonThrottle(_Throttle):
    """Bucket of a signed-in person, whatever session or token they use."""

    scope = "person"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        actor = request.auth
        return f"throttle:{self.scope}:{actor.user_id}" if isinstance(actor, Actor) else None


class AddressThrottle(_Throttle):
    """Bucket of an address without a sign-in. Only the peer's address counts: headers are the caller's to invent."""

    scope = "address"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if isinstance(request.auth, Actor):
            return None
        return f"throttle:{self.scope}:{request.META.get('REMOTE_ADDR', '')}"
