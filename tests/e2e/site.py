"""Templates and static files in a real browser without a server: Playwright answers for the host.

For what is the browser's alone (modules, styles, accessibility). What needs views, the database or
the socket is tested against a real server.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import translation
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Route

ORIGIN = "http://memlab.test"
# The participant pages' policy at its strictest: our own files, nothing inline, no eval.
POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'"


class RenderedSite:
    """Serves rendered pages and `/static/`; lists every other address that was asked for."""

    def __init__(self, context: BrowserContext) -> None:
        self.pages: dict[str, str] = {"/": "<!doctype html><title>Blank</title>"}
        self.foreign: list[str] = []
        self.errors: list[str] = []
        context.route("**/*", self._answer)
        context.on("console", self._note)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def _note(self, line: ConsoleMessage) -> None:
        if line.type == "error":
            self.errors.append(line.text)

    def open(self, page: Page, template: str, context: dict[str, Any], *, language: str) -> None:
        """Render ``template`` in ``language`` and go there."""
        with translation.override(language):
            request = RequestFactory().get("/page")
            self.pages["/page"] = render_to_string(template, context, request=request)
        page.goto(f"{ORIGIN}/page")

    def open_blank(self, page: Page) -> None:
        """An empty page from which modules can be imported."""
        page.goto(f"{ORIGIN}/")

    def _answer(self, route: Route) -> None:
        url = urlsplit(route.request.url)
        if f"{url.scheme}://{url.netloc}" != ORIGIN:
            self.foreign.append(route.request.url)
            route.abort()
        elif url.path in self.pages:
            headers = {"Content-Security-Policy": POLICY}
            html = self.pages[url.path]
            route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=headers)
        else:
            self._answer_file(route, url.path)

    def _answer_file(self, route: Route, path: str) -> None:
        found = finders.find(path.removeprefix("/static/"))
        if found is None or not path.startswith("/static/"):
            route.fulfill(status=404, body="not found")
            return
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        route.fulfill(body=Path(found).read_bytes(), content_type=kind)
