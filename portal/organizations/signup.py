"""Gives everybody who signs up, or in, a personal organization; running twice changes nothing."""

from typing import Any

from allauth.account.signals import user_logged_in, user_signed_up

from portal.accounts.models import User
from portal.organizations.services import ensure_personal


def listen() -> None:
    """Both signals, since a crash between the person's row and the organization's is mended at the next sign-in."""
    for signal in (user_signed_up, user_logged_in):
        signal.connect(_greet, dispatch_uid="organizations.personal")


def _greet(user: User, **kwargs: Any) -> None:
    ensure_personal(user=user)
