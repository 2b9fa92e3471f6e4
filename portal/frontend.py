"""Serves the one page of the front end at every address that is nothing else; its files come from whitenoise."""

from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Podium</title>
<h1>The front end is not built</h1><p>Run <code>./podium up</code>, which builds it, or <code>npm run build</code> in
<code>frontend</code>, and start the server again. The API is there: <a href="/api/docs">/api/docs</a>.</p></html>"""


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The built index.html, never cached, since it names the hashed files of this build."""
    page, status = _page()
    response = HttpResponse(page, status=status)
    response["Cache-Control"] = "no-cache"
    return response


@cache
def _page() -> tuple[str, int]:
    built = settings.FRONTEND_DIST / "index.html"
    return (built.read_text(), 200) if built.is_file() else (NOT_BUILT, 503)
