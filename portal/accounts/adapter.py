"""Where allauth asks us: addresses are kept in lower case."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter


class AccountAdapter(DefaultAccountAdapter):
    """allauth's default, with one spelling for an address."""

    def clean_email(self, email: str) -> str:
        return str(super().clean_email(email)).lower()

    def populate_username(self, request: Any, user: Any) -> None:
        """There are no user names."""
