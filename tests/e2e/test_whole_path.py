"""The whole path of a newcomer in a real browser: from the sign-up form to a live loss, a report and a leaderboard row.

The fixtures are the steps, each done once and by the one browser of the newcomer; the tests say what must come of them.
"""

import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.journey import (
    SLOW_MS,
    Newcomer,
    Socket,
    arrive,
    choose,
    make_token,
    reserve,
    sign_up,
    upload,
    with_polling,
    without_polling,
)
from tests.e2e.models import classifier
from tests.e2e.people import wait_for
from tests.e2e.processes import process_of
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
STEPS = 6_000
BOARD = "train-throughput-mnist"


@pytest.fixture(scope="module")
def newcomer(stack: Stack, browser: Browser) -> Iterator[Newcomer]:
    person = arrive(stack, browser, f"ada-{secrets.token_hex(4)}@example.org")
    sign_up(person)
    yield person
    person.context.close()


@pytest.fixture(scope="module")
def model_id(newcomer: Newcomer, tmp_path_factory: pytest.TempPathFactory) -> str:
    return upload(newcomer, classifier(tmp_path_factory.mktemp("path") / "digits.onnx", seed=21))


@pytest.fixture(scope="module")
def slice_ipus(newcomer: Newcomer) -> int:
    reserve(newcomer, pod="IPU-POD16 DA", ipus=2)
    return 2


@pytest.fixture(scope="module")
def training(newcomer: Newcomer, model_id: str, slice_ipus: int) -> str:
    """A training run on the slice, launched from the form; the page of the job is open, cut off from polling."""
    page = newcomer.open("/pods")
    page.get_by_role("link", name="Launch on it").first.click()
    choose(page, "Model", "digits.onnx")
    choose(page, "Data set", "Digits")
    page.get_by_label("Steps", exact=True).fill(str(STEPS))
    expect(page.get_by_text("Fits", exact=True)).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}$"))
    job_id = page.url.rpartition("/")[2]
    expect(page.get_by_role("button", name="Cancel the job")).to_be_visible()  # the row has been fetched
    without_polling(page, job_id)
    return job_id


def loss_of(page: Page) -> float:
    return float(page.get_by_test_id("last-loss").inner_text(timeout=SLOW_MS).replace(",", ""))


def numbers(events: list[dict[str, Any]]) -> list[int]:
    return [event["seq"] for event in events]


def test_the_newcomer_has_an_organization_with_credits(newcomer: Newcomer) -> None:
    page = newcomer.open("/organization")
    expect(page.get_by_role("heading", level=1)).to_contain_text(newcomer.name)
    expect(page.get_by_text(newcomer.email).first).to_be_visible()


def test_a_token_is_shown_once_and_works(newcomer: Newcomer, stack: Stack) -> None:
    secret = make_token(newcomer)
    assert re.fullmatch(r"pod_[A-Za-z0-9]{46}", secret)
    answer = httpx.get(f"{stack.url}/api/v1/jobs", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    page = newcomer.open("/tokens")
    expect(page.get_by_text("my pipeline")).to_be_visible()
    assert secret not in page.content()


def test_a_model_is_accepted_with_a_summary(newcomer: Newcomer, model_id: str) -> None:
    page = newcomer.open(f"/models/{model_id}")
    expect(page.get_by_text("2,410")).to_be_visible()
    expect(page.get_by_role("cell", name="MatMul")).to_be_visible()


def test_a_file_that_is_no_model_is_refused_with_advice(newcomer: Newcomer, tmp_path: Path) -> None:
    path = tmp_path / "picture.onnx"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 100)
    page = newcomer.open("/models")
    page.get_by_test_id("model-file").set_input_files(path)
    expect(page.get_by_text("This model was refused")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("PNG image").first).to_be_visible()


def test_a_clash_on_the_calendar_is_told(newcomer: Newcomer, slice_ipus: int) -> None:
    page = newcomer.open("/pods")
    choose(page, "IPUs", "16")
    expect(page.get_by_text(re.compile("No 16 IPUs are free"))).to_be_visible()
    page.get_by_role("button", name="Reserve").click()
    expect(page.get_by_text(re.compile(r"Free from"))).to_be_visible()


def test_the_loss_comes_live_over_the_socket_alone(newcomer: Newcomer, training: str) -> None:
    page = newcomer.page
    first = loss_of(page)
    wait_for(lambda: loss_of(page) != first, what="another loss")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    (events,) = newcomer.socket.events(training)
    assert numbers(events) == list(range(1, len(events) + 1))
    assert sum(event["kind"] == "metrics" for event in events) >= 2


def test_a_reload_a_second_browser_and_a_dropped_connection_lose_nothing(
    newcomer: Newcomer, training: str, stack: Stack, browser: Browser
) -> None:
    page = newcomer.page
    with_polling(page)
    page.reload()
    loss_of(page)
    without_polling(page, training)
    context = browser.new_context(
        storage_state=newcomer.context.storage_state(), viewport={"width": 1280, "height": 900}
    )
    second, heard = context.new_page(), Socket()
    heard.listen(second)
    second.goto(f"{stack.url}/jobs/{training}")
    loss_of(second)
    process_of(stack, "web").kill()
    for each in (page, second):
        expect(each.get_by_role("button", name="Run again")).to_be_visible(timeout=150_000)
        expect(each.get_by_role("listitem").filter(has_text="Succeeded")).to_be_visible()
    with_polling(page)
    assert told_by(page) == told_by(second)
    for socket in (newcomer.socket, heard):
        assert len(socket.events(training)) >= 2, "the connection should have dropped"
        assert_gapless(socket, training)
    context.close()


def told_by(page: Page) -> list[list[str]]:
    """The table of points, which says the same as the curves."""
    page.get_by_role("button", name="Table", exact=True).first.click()
    table = page.get_by_role("table").filter(has_text="Wall-clock").first
    rows = table.get_by_role("row").all_inner_texts()
    cells = [row.split("\t") for row in rows]
    steps = [int(row[0].replace(",", "")) for row in cells[1:]]
    assert steps == sorted(set(steps)), "a step is told twice, or out of order"
    assert (steps[0], steps[-1]) == (1, STEPS)
    return cells


def assert_gapless(socket: Socket, job_id: str) -> None:
    """Each connection goes on where the one before it ended, or begins anew after a reload; within one, no gap."""
    seen = 0
    for events in socket.events(job_id):
        got = numbers(events)
        assert got == list(range(got[0], got[0] + len(got)))
        assert got[0] in (1, seen + 1)
        seen = got[-1]
    assert socket.events(job_id)[-1][-1]["kind"] == "ended"


def test_the_report_shows_the_tiles_and_where_the_time_goes(newcomer: Newcomer, training: str, slice_ipus: int) -> None:
    with_polling(newcomer.page)
    page = newcomer.open(f"/jobs/{training}")
    expect(page.get_by_role("button", name="Run again")).to_be_visible(timeout=150_000)
    report = page.get_by_test_id("report")
    expect(report.locator("canvas").first).to_be_visible(timeout=SLOW_MS)
    expect(report.get_by_text("Simulated", exact=True).first).to_be_visible()
    report.get_by_role("tab", name="Time").click()
    for part in ("Compute", "Exchange", "Sync", "Host"):
        expect(report.get_by_text(part, exact=True).first).to_be_visible()
    report.get_by_role("tab", name="Operators").click()
    expect(report.get_by_role("cell", name=re.compile("first")).first).to_be_visible()
    told = page.evaluate(f"fetch('/api/v1/jobs/{training}/report').then(answer => answer.json())")
    assert told["parallel"]["replicas"] == slice_ipus
    assert len(told["memory"]["by_tile"]["weights"]) == 1472


def test_a_running_job_is_cancelled_from_its_page(newcomer: Newcomer) -> None:
    page = newcomer.open("/launch?model=zoo:mnist")
    page.get_by_label("Steps", exact=True).fill("900000")
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}$"))
    loss_of(page)
    page.get_by_role("button", name="Cancel the job").click()
    began = time.monotonic()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
    expect(page.get_by_role("button", name="Run again")).to_be_visible(timeout=20_000)
    expect(page.get_by_role("listitem").filter(has_text="Cancelled")).to_be_visible()
    assert time.monotonic() - began < 15


def test_a_leaderboard_that_is_open_gets_the_row_when_the_job_ends(
    newcomer: Newcomer, stack: Stack, browser: Browser
) -> None:
    context = browser.new_context()
    board = context.new_page()
    board.goto(f"{stack.url}/leaderboards/{BOARD}")
    expect(board.get_by_role("heading", name="Simulated results")).to_be_visible()
    assert board.get_by_text(newcomer.name).count() == 0
    page = newcomer.open(f"/launch?suite={BOARD}")
    expect(page.get_by_text("Fits", exact=True)).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}$"))
    expect(board.get_by_test_id("simulated").get_by_text(newcomer.name)).to_be_visible(timeout=SLOW_MS * 2)
    expect(board.get_by_test_id("simulated").get_by_text("Simulated", exact=True).first).to_be_visible()
    context.close()


def test_published_figures_wear_their_label_and_source(stack: Stack, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{stack.url}/leaderboards/train-throughput-resnet50")
    expect(page.get_by_text("Published", exact=True).first).to_be_visible()
    expect(page.get_by_text(re.compile("MLPerf|MLCommons")).first).to_be_visible()
    context.close()


def test_no_page_of_the_path_complained(newcomer: Newcomer) -> None:
    """Fetches that this file itself cut off, and the web process that it killed, are complained of rightly."""
    ours = re.compile(r"net::ERR_|Failed to load resource|WebSocket connection")
    assert [line for line in newcomer.complaints if not ours.search(line)] == []
