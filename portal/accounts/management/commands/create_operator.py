"""`manage.py create_operator --email ...`: the account that looks after it all; its password is shown once."""

import secrets
from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.signals import user_signed_up
from django.core.management.base import BaseCommand, CommandParser

from portal.accounts.models import User


class Command(BaseCommand):
    help = "Makes an operator with a random password, unless the address is taken: then it is made an operator."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip().lower()
        found = User.objects.filter(email=email).first()
        if found:
            User.objects.filter(id=found.id).update(is_operator=True)
            self.stdout.write(f"{email} is an operator; the password is as it was.")
            return
        password = secrets.token_urlsafe(15)
        user = User.objects.create_user(email, password, name="Operator", is_operator=True)
        EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
        # As a person who signed up gets a personal organization, so does the operator.
        user_signed_up.send(User, request=None, user=user)
        self.stdout.write(f"Operator {email} with password {password}")
