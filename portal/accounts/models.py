"""People, and the outbox that stands in for a mail server on one machine."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from portal.tenancy.ids import uuid7
from portal.tenancy.tables import SystemModel, TableClass


class UserManager(BaseUserManager["User"]):
    """Makes people; an address is kept in lower case, so that it names one person."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").lower())


class User(AbstractBaseUser):
    """A person, known by e-mail address.

    An operator looks after the installation and is no member of others' organizations.
    """

    table_class = TableClass.USER

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=120, blank=True)
    is_active = models.BooleanField(default=True)
    is_operator = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = UserManager()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(email=Lower("email")), name="accounts_email_lower_case")]

    def get_full_name(self) -> str:
        return self.name or self.email.partition("@")[0]


class OutboxMail(SystemModel):
    """A mail that would have been sent, when there is no mail server."""

    to = models.EmailField(max_length=254)
    subject = models.CharField(max_length=300)
    body = models.TextField()
    sent_at = models.DateTimeField(auto_now_add=True)
