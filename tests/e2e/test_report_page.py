"""The report that is one HTML file, in a browser without a network: it draws every part and fits a telephone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from simulator import RunConfig, simulate
from simulator.report.html import page

pytestmark = pytest.mark.e2e
PARTS = {"memory", "time", "timeline", "liveness", "operators", "roofline", "provenance", "doubts"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = simulate("zoo:mnist", RunConfig(system="pod16", stages=2, accumulation=4))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(found), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_part_is_drawn_without_network_or_error(browser: Browser, file: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    shown, errors = context.new_page(), []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    shown.goto(file.as_uri())
    parts = set(shown.eval_on_selector_all("main section", "all => all.map(each => each.id)"))
    assert parts >= PARTS
    assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert shown.locator("canvas").count() == 3
    assert errors == []
    context.close()


def test_tiles_tell_their_bytes_and_operators_sort_and_filter(browser: Browser, file: Path) -> None:
    shown = browser.new_page()
    shown.goto(file.as_uri())
    shown.locator("#memory canvas").hover(position={"x": 3, "y": 3})
    assert "Tile 0: " in shown.locator("#tip").inner_text()
    first = shown.locator("#operators tbody tr").first
    longest = first.inner_text()
    by_name = shown.get_by_role("button", name="Operator", exact=True)
    by_name.click()
    least = first.inner_text()
    by_name.click()
    assert first.inner_text() not in (least, longest)
    shown.get_by_role("searchbox").fill("softmax-that-is-not-there")
    assert shown.locator("#operators tbody tr").count() == 0
    shown.get_by_role("button", name="Layers").click()
    assert shown.locator("#operators tbody tr").count() > 3
    shown.close()
