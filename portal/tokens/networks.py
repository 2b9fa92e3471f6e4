"""The addresses that a token may be used from, as networks in one spelling."""

import ipaddress
from collections.abc import Iterable

from portal.errors import PodiumError

MOST = 20


def normal(given: Iterable[str]) -> list[str]:
    """Each as address/bits, sorted; refused when one is none."""
    try:
        found = {ipaddress.ip_network(text.strip()) for text in given}
    except ValueError as error:
        text = f"{error}: write an address such as 192.0.2.7 or a network such as 192.0.2.0/24."
        raise PodiumError(
            "token.bad_network", text, status=422, fields={"networks": ("token.bad_network", text)}
        ) from error
    return sorted(str(network) for network in found)
