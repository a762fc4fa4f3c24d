"""A real browser for the pages: Debian's Chromium, driven by Playwright.

These tests need a pytest process of their own, for Playwright leaves a running event loop behind.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e.site import RenderedSite

CHROMIUM = os.environ.get("MEMLAB_CHROMIUM", "/usr/bin/chromium")
# Two cores that also run the server: what is right may take its time.
expect.set_options(timeout=15_000)
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE = """async (rules) => {
  const { violations } = await axe.run(document, { runOnly: rules });
  return violations.map(({ id, help, nodes }) => [id, help, nodes.map((node) => node.html)]);
}"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium for the whole run."""
    executable = shutil.which(CHROMIUM)
    if executable is None:
        pytest.skip(
            f"NOT RUN: no browser at {CHROMIUM}. Install Chromium or name it in MEMLAB_CHROMIUM."
        )
    # Playwright's loop runs in this thread, where Django would refuse the test's own queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser session with storage and cookies of its own, on a wide screen."""
    opened = browser.new_context(viewport={"width": 1280, "height": 800})
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """One tab."""
    return context.new_page()


@pytest.fixture
def site(context: BrowserContext) -> RenderedSite:
    """Our templates and static files under an address that needs no server."""
    return RenderedSite(context)


@pytest.fixture(scope="session")
def axe() -> Callable[[Page], None]:
    """`axe(page)` fails with what WCAG 2.2 AA, and good practice, find wrong with a page."""
    source = AXE.read_text(encoding="utf-8")

    def check(page: Page) -> None:
        page.evaluate(source)
        violations = page.evaluate(RUN_AXE, RULES)
        assert violations == []

    return check
