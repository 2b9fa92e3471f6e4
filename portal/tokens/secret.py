"""Secrets that are stored hashed. A token's is pod_ + 40 random characters + 6 of a checksum, to tell it from noise."""

import hashlib
import hmac
import secrets
import string
import zlib

from django.conf import settings

ALPHABET = string.ascii_letters + string.digits
PREFIX = "pod_"


def make() -> str:
    """A new secret; it is shown once and not kept."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(40))
    return PREFIX + body + _checksum(body)


def well_formed(secret: str) -> bool:
    """True when the checksum is right; saves the database from guesses."""
    body = secret.removeprefix(PREFIX)
    return secret.startswith(PREFIX) and len(body) == 46 and secrets.compare_digest(_checksum(body[:40]), body[40:])


def digest(secret: str, *, of: str = "tokens") -> bytes:
    """What is stored: HMAC-SHA-256 under a key of this installation, so that a stolen table opens nothing.

    `of` names what the secret is for, so that one kind is never good for another.
    """
    return hmac.new(f"{of}:{settings.SECRET_KEY}".encode(), secret.encode(), hashlib.sha256).digest()


def _checksum(body: str) -> str:
    value, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        value, digit = divmod(value, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
