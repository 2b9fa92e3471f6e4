"""Writes log-ins, refused ones and changes of how to log in into the audit log. allauth does them, and tells."""

from importlib import import_module
from typing import Any

from allauth.account import signals
from django.apps import apps
from django.contrib.auth.signals import user_logged_out, user_login_failed
from django.http import HttpRequest

from portal.accounts.models import User
from portal.audit import services as audit
from portal.tenancy import Actor

# allauth's signal -> what is written
ACCOUNT = {
    signals.user_signed_up: "person.signed_up",
    signals.user_logged_in: "session.opened",
    signals.password_changed: "password.changed",
    signals.password_reset: "password.reset",
    signals.email_confirmed: "email.confirmed",
    signals.email_added: "email.added",
    signals.email_changed: "email.changed",
    signals.email_removed: "email.removed",
}
SECOND_FACTORS = {
    "authenticator_added": "factor.added",
    "authenticator_removed": "factor.removed",
    "authenticator_reset": "factor.renewed",
}


def listen() -> None:
    """Called once, when the app is ready; second factors are listened for where they are installed."""
    told = dict(ACCOUNT)
    if apps.is_installed("allauth.mfa"):
        factors = import_module("allauth.mfa.signals")
        told |= {getattr(factors, name): action for name, action in SECOND_FACTORS.items()}
    for signal, action in told.items():
        signal.connect(_writer(action), weak=False, dispatch_uid=f"accounts.{action}")
    user_logged_out.connect(_logged_out, dispatch_uid="accounts.session.closed")
    user_login_failed.connect(_refused, dispatch_uid="accounts.session.refused")


def _writer(action: str) -> Any:
    def write(sender: Any, user: User | None = None, **facts: Any) -> None:
        address = facts.get("email_address")
        person = user or getattr(address, "user", None)
        if person is not None:
            factor = facts.get("authenticator")
            _write(action, person, label=factor.type if factor else getattr(address, "email", ""))

    return write


def _logged_out(sender: Any, request: HttpRequest, user: User | None, **facts: Any) -> None:
    if user is not None:
        _write("session.closed", user)


def _refused(sender: Any, credentials: dict[str, Any], **facts: Any) -> None:
    """Also for an address that nobody has, so that the answer takes as long; what was typed is not kept."""
    email = str(credentials.get("email") or credentials.get("username") or "").lower()
    found = User.objects.filter(email=email).values_list("id", flat=True).first()
    audit.record("session.refused", actor=None, target_id=found or "")


def _write(action: str, person: User, label: str = "") -> None:
    audit.record(action, actor=Actor(user_id=person.id), target_id=person.id, label=label or person.email)
