"""A mail backend for one machine: mails are logged, and kept in a table that /outbox shows to browsers on it."""

import logging
import re
from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from portal.accounts.models import OutboxMail

logger = logging.getLogger(__name__)
KEPT = 200
LINK = re.compile(r"https?://[^\s<>\"]+")


class OutboxBackend(BaseEmailBackend):
    """Django's mail backend, without a server behind it."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            body = str(message.body)
            for to in message.to:
                OutboxMail.objects.create(to=to, subject=str(message.subject)[:300], body=body)
            logger.info("Mail to %s: %s %s", ", ".join(message.to), message.subject, " ".join(links(body)))
        surplus = list(OutboxMail.objects.order_by("-id").values_list("id", flat=True)[KEPT : KEPT + 50])
        OutboxMail.objects.filter(id__in=surplus).delete()
        return len(email_messages)


def links(body: str) -> list[str]:
    """Addresses that a mail contains."""
    return LINK.findall(body)
