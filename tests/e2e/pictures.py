"""Pictures of the pages for whoever wants to look at them: MEMLAB_E2E_PICTURES names the folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from playwright.sync_api import Page

FOLDER = os.environ.get("MEMLAB_E2E_PICTURES")


def keep(page: Page, name: str) -> None:
    """The whole page as it is now, in a file named after its language, its width and this name.

    One that is there already is kept, for a walk comes by some pages many times.
    """
    if FOLDER is None:
        return
    width = page.evaluate("innerWidth")
    called = re.sub(r"[^\w-]+", "-", name)[:80]
    path = Path(FOLDER) / f"{page.get_attribute('html', 'lang')}-{width}-{called}.png"
    if not path.exists():
        page.screenshot(path=path, full_page=True, animations="disabled")
