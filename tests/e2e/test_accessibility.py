"""Every page under axe, in both colour schemes and on a narrow screen: nothing serious, nothing that sticks out."""

import secrets
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.e2e.journey import Newcomer, arrive, sign_up
from tests.e2e.people import wait_for
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
OPEN_PAGES = ("/", "/signup", "/login", "/outbox", "/leaderboards", "/leaderboards/train-throughput-resnet50")
PRIVATE_PAGES = (
    "/",
    "/models",
    "/pods",
    "/launch?model=zoo:mnist",
    "/jobs",
    "/tokens",
    "/device",
    "/audit",
    "/organization",
)
# Colours change gradually, and axe would judge the way between two of them.
SETTLED = """async () => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const moving = document.getAnimations().filter(each => each instanceof CSSTransition);
    await Promise.allSettled(moving.map(each => each.finished));
}"""
NARROW = {"width": 360, "height": 740}
WIDE = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def resident(stack: Stack, browser: Browser) -> Iterator[Newcomer]:
    person = arrive(stack, browser, f"axe-{secrets.token_hex(4)}@example.org")
    sign_up(person)
    yield person
    person.context.close()


@pytest.fixture(scope="module")
def visitor(stack: Stack, browser: Browser) -> Iterator[Newcomer]:
    person = arrive(stack, browser, "")
    yield person
    person.context.close()


@pytest.fixture(scope="module")
def job_path(resident: Newcomer) -> str:
    """A finished job, whose page is the richest of all."""
    body = "{model: 'zoo:mnist', config: {task: 'train', system: 'pod4', ipus: 1, steps: 40, dataset: 'digits'}}"
    launch = f"""async () => {{
        const token = document.cookie.match(/csrftoken[^=]*=([^;]+)/)[1];
        const headers = {{'Content-Type': 'application/json', 'X-CSRFToken': token}};
        const answer = await fetch('/api/v1/jobs', {{method: 'POST', headers, body: JSON.stringify({body})}});
        return (await answer.json()).id;
    }}"""
    job_id = resident.page.evaluate(launch)
    read = f"async () => (await (await fetch('/api/v1/jobs/{job_id}')).json()).state"
    wait_for(lambda: resident.page.evaluate(read) == "succeeded", seconds=120, what="the job's end")
    return f"/jobs/{job_id}"


def check(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_timeout(200)
        page.evaluate(SETTLED)
        found = Axe().run(page).response["violations"]
        serious = [
            (rule["id"], [node["html"][:160] for node in rule["nodes"]][:3])
            for rule in found
            if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], f"{page.url} in {scheme}"
    page.set_viewport_size(NARROW)
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size(WIDE)
    assert width <= NARROW["width"], f"{page.url} is {width} px wide on a screen of {NARROW['width']} px"


@pytest.mark.parametrize("path", OPEN_PAGES)
def test_pages_open_to_everybody(path: str, visitor: Newcomer) -> None:
    check(visitor.open(path))


@pytest.mark.parametrize("path", PRIVATE_PAGES)
def test_pages_of_somebody_signed_in(path: str, resident: Newcomer) -> None:
    check(resident.open(path))


def test_the_page_of_a_job_with_its_report(job_path: str, resident: Newcomer) -> None:
    page = resident.open(job_path)
    page.get_by_test_id("report").locator("canvas").first.wait_for()
    check(page)
    for tab in ("Time", "Operators"):
        page.get_by_role("tab", name=tab).click()
        check(page)
