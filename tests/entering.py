"""Walking through the entry of a study as a browser does: each form is filled in and posted."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.test import Client

from experiments.models import EntryLink, Study

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
#: What is chosen on each page, unless a test chooses otherwise.
USUAL: dict[str, dict[str, str]] = {
    "join": {},
    "age": {"of_age": "yes"},
    "information": {},
    "consent": {"agree": "yes"},
    "contact": {"without": "yes"},
    "code": {},
}


def link_of(study: Study, *, test_mode: bool = True) -> str:
    """The address of a new open link."""
    token = EntryLink.objects.issue(lab_id=study.lab_id, study_id=study.pk, test_mode=test_mode)
    return f"/join/{token}/"


def page_name(path: str) -> str:
    """``join``, ``age`` … as an address names a page of the entry; the path itself for others."""
    parts = [part for part in urlsplit(path).path.split("/") if part]
    return next((part for part in parts if part in USUAL), path)


def hidden_fields(html: str) -> dict[str, str]:
    return {name: value for name, value in _HIDDEN.findall(html) if name != "csrfmiddlewaretoken"}


def step(client: Client, path: str, **fields: str) -> Any:
    """Open a page, fill in its form and post it; the answer, not followed."""
    html = client.get(path).content.decode()
    return client.post(path, {**hidden_fields(html), **fields})


def enter(client: Client, path: str, **pages: dict[str, str]) -> list[str]:
    """Go on from ``path`` as long as pages of the entry come; the names of all pages, and last the
    address at which that ended. ``consent={"agree_telemetry": "no"}`` adds to what is filled in."""
    seen: list[str] = []
    while (name := page_name(path)) in USUAL:
        assert name not in seen, f"{name} comes again after {seen}"
        seen.append(name)
        answer = step(client, path, **{**USUAL[name], **pages.get(name, {})})
        assert answer.status_code == 302, answer.content.decode()
        path = client.get(answer["Location"], follow=True).request["PATH_INFO"]
    return [*seen, path]
