"""One HTML file that shows a report: styles, scripts and data inside, nothing fetched. It draws with ``page/``."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any

from simulator.report.text import plain

SCRIPTS = (
    "dom", "headline", "time", "tiles", "liveness", "timeline", "operators", "roofline", "scaling", "provenance",
    "main",
)  # fmt: skip
# nothing in the data can close the element that holds it, or be taken for markup
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page(report: dict[str, Any]) -> str:
    """The whole page; names of users appear in it as text only."""
    filled = {
        "title": escape(plain(f"{report['model']['name']} on {report['parallel']['system']} (simulated)")),
        "css": _asset("page.css"),
        "js": "\n".join(_asset(f"{name}.js") for name in SCRIPTS),
        "data": _data(report),
    }
    before, *rest = _asset("page.html").split("{{")
    found = [before]
    for piece in rest:
        name, _, after = piece.partition("}}")
        found += [filled[name], after]
    return "".join(found)


def _data(report: dict[str, Any]) -> str:
    text = json.dumps(report, separators=(",", ":"))
    for letter, escaped in UNSAFE.items():
        text = text.replace(letter, escaped)
    return text


def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text("utf-8")
