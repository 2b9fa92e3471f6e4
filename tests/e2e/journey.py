"""What a newcomer does in the browser, step by step. What must come of it is in the tests."""

import json
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Route, WebSocket, expect

from tests.e2e.stack import Stack

SLOW_MS = 60_000  # inspection, estimate and start of a job on a busy machine


@dataclass
class Socket:
    """Frames that a page received, in order; one list for each connection."""

    connections: list[list[dict[str, Any]]] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("websocket", self._opened)

    def _opened(self, socket: WebSocket) -> None:
        frames: list[dict[str, Any]] = []
        self.connections.append(frames)
        socket.on("framereceived", lambda data: frames.append(json.loads(data)))

    def events(self, job_id: str) -> list[list[dict[str, Any]]]:
        """The job's events by connection, leaving out connections without any."""
        found = [
            [event for frame in frames if frame.get("topic") == f"job:{job_id}" for event in frame.get("events", [])]
            for frames in self.connections
        ]
        return [events for events in found if events]


@dataclass
class Newcomer:
    """Somebody in a browser of their own."""

    stack: Stack
    context: BrowserContext
    page: Page
    socket: Socket
    email: str
    name: str
    password: str = "a long enough secret"
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.stack.url + path)
        return self.page


def arrive(stack: Stack, browser: Browser, email: str) -> Newcomer:
    """A fresh browser. What its console complains of is kept: a page that works complains of nothing."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    context.set_default_timeout(20_000)
    page = context.new_page()
    newcomer = Newcomer(stack, context, page, Socket(), email, f"Ada {secrets.token_hex(3)}")
    newcomer.socket.listen(page)
    page.on("pageerror", lambda error: newcomer.complaints.append(str(error)))
    page.on("console", lambda line: newcomer.complaints.append(line.text) if line.type == "error" else None)
    return newcomer


def sign_up(newcomer: Newcomer) -> None:
    """From the landing page through the form and the outbox to a signed-in start page."""
    page = newcomer.open("/")
    page.get_by_role("link", name="Sign up").first.click()
    page.get_by_label("Your name").fill(newcomer.name)
    page.get_by_label("E-mail").fill(newcomer.email)
    page.locator("input[name=password]").fill(newcomer.password)
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("link", name="Open the outbox").click()
    page.get_by_role("link", name="Open the link").first.click()
    page.wait_for_url(re.compile(r"/$|/login"))
    if "/login" in page.url:
        page.get_by_label("E-mail").fill(newcomer.email)
        page.locator("input[name=password]").fill(newcomer.password)
        page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name=f"Welcome, {newcomer.name}")).to_be_visible()


def make_token(newcomer: Newcomer) -> str:
    page = newcomer.open("/tokens")
    page.get_by_role("button", name="New token").click()
    dialogue = page.get_by_role("dialog")
    dialogue.get_by_label("Name").fill("my pipeline")
    dialogue.get_by_role("button", name="Create").click()
    secret = dialogue.get_by_test_id("token-secret").inner_text().strip()
    dialogue.get_by_role("button", name="Close").last.click()
    return secret


def upload(newcomer: Newcomer, path: Path) -> str:
    """Choose a file; the page of the model follows by itself. Returns the model's id once it is inspected."""
    page = newcomer.open("/models")
    page.get_by_test_id("model-file").set_input_files(path)
    page.wait_for_url(re.compile(r"/models/[0-9a-f-]{36}$"))
    expect(page.get_by_text("Accepted", exact=True).first).to_be_visible(timeout=SLOW_MS)
    return page.url.rpartition("/")[2]


def reserve(newcomer: Newcomer, *, pod: str, ipus: int) -> None:
    """A slice that begins now, on the calendar page."""
    page = newcomer.open("/pods")
    choose(page, "Pod", pod)
    choose(page, "IPUs", str(ipus))
    page.get_by_role("button", name="Reserve").click()
    expect(page.get_by_text(re.compile(r"^Reserved: IPUs"))).to_be_visible()
    expect(page.get_by_text("free side by side")).to_have_count(0)  # one's own new slice is no clash


def choose(page: Page, label: str, option: str) -> None:
    """Pick from a select, whichever kind it is."""
    field_ = page.get_by_label(label, exact=True).first
    if field_.evaluate("element => element.tagName") == "SELECT":
        field_.select_option(label=option)
        return
    field_.click()
    page.get_by_role("listbox").get_by_role("option", name=option, exact=True).click()


def without_polling(page: Page, job_id: str) -> None:
    """From now on what moves on the job's page can come over the socket alone."""

    def refuse(route: Route) -> None:
        route.abort()

    page.route(re.compile(rf"/api/v1/jobs/{job_id}(\?|$)"), refuse)
    page.route(re.compile(rf"/api/v1/jobs/{job_id}/events"), refuse)


def with_polling(page: Page) -> None:
    page.unroute_all(behavior="ignoreErrors")
