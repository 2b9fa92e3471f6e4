"""HTTP below the client: headers, retries, problem details and pages. Knows no endpoint."""

import random
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from podium_client.errors import ConnectionLost, PodiumError

API = "/api/v1/"
ATTEMPTS = 5
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 20.0
BUSY = frozenset({429, 502, 503, 504})


class Transport:
    """Requests to one server with one token. Repeats what may be repeated, raises `PodiumError` for a refusal."""

    def __init__(self, url: str, token: str, *, timeout: float = 60.0) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise PodiumError(
                "url.invalid", f"{url!r} is not the address of a Podium server, such as https://podium.lab."
            )
        self.url = url.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(
            base_url=self.url + API,
            headers={**self.headers, "User-Agent": "podium-client", "Accept": "application/json"},
            timeout=timeout,
        )

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **params: Any) -> Any:
        wanted = {key: value for key, value in params.items() if value is not None}
        # None and not an empty dict, with which httpx would drop the query of a page's address.
        return self._send("GET", path, repeatable=True, params=wanted or None)

    def post(self, path: str, body: Any = None, *, idempotency_key: str | None = None) -> Any:
        """A POST is repeated after a lost answer only when the key lets the server recognise it."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return self._send(
            "POST", path, repeatable=idempotency_key is not None, json={} if body is None else body, headers=headers
        )

    def put_bytes(self, path: str, content: bytes, headers: dict[str, str]) -> Any:
        """One try only: who sends parts asks the server first what it has."""
        return self._send("PUT", path, repeatable=False, content=content, headers=headers)

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Every row of a cursor-paged list, fetched as needed. Links to another server are not followed."""
        page = self.get(path, **params)
        while True:
            yield from page["results"]
            following = page.get("next")
            if not following:
                return
            target = urlsplit(urljoin(self.url, following))
            page = self.get(f"{self.url}{target.path}?{target.query}")

    def _send(self, method: str, path: str, *, repeatable: bool, **options: Any) -> Any:
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            try:
                response = self._http.request(method, path, **options)
            except httpx.TransportError as error:
                never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if last or not (repeatable or never_sent):
                    raise ConnectionLost(f"No answer from {self.url} ({error}). Is the server running?") from error
                time.sleep(_pause(attempt, None))
                continue
            # 429 and 503 are answered before anything happened, the gateway's 502 and 504 perhaps after.
            again = response.status_code in BUSY and (repeatable or response.status_code in (429, 503))
            if not again or last:
                return _answer(response)
            time.sleep(_pause(attempt, response.headers.get("Retry-After")))
        raise AssertionError("unreachable")


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds before the next try: what the server asked for, else doubling with jitter."""
    if retry_after and retry_after.isdigit():
        return min(float(retry_after), LONGEST_PAUSE_SECONDS)
    return min(FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1), LONGEST_PAUSE_SECONDS) * random.uniform(0.7, 1.3)  # noqa: S311


def _answer(response: httpx.Response) -> Any:
    if response.is_success:
        return response.json() if response.content else None
    raise problem(response)


def problem(response: httpx.Response) -> PodiumError:
    """The error in an RFC 9457 answer, or a plain one where something else than Podium answered."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or "code" not in body:
        text = f"{response.request.url} answered {response.status_code}, but not as Podium does."
        return PodiumError(f"http.{response.status_code}", text, status=response.status_code)
    return PodiumError(
        str(body["code"]),
        str(body.get("detail") or body.get("title") or body["code"]),
        status=response.status_code,
        params=body.get("params"),
        fields=body.get("errors"),
    )
