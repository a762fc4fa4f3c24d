"""Every page of the back office that a browser can reach, and every one it could guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.test import Client

from experiments.back_office import TenantModelAdmin
from memlab.core.tenancy import lab_scope

LINK = re.compile(rb'(?:href|action)="(/admin/[^"#]*)')
#: Which list a page was come to from: the page only links back to it.
CAME_FROM = re.compile(r"\?_changelist_filters=[^&]*$")
#: Leave the lab or the login, or end what the crawl is about.
AVOID = ("/admin/logout/", "/admin/jsi18n/", "/admin/password_change/")


def tenant_admins() -> list[TenantModelAdmin]:
    return [each for each in admin.site._registry.values() if isinstance(each, TenantModelAdmin)]


def rows_of(pages: TenantModelAdmin, lab_id: int) -> list[Model]:
    """All rows of a lab, whatever its browsers may see."""
    with lab_scope(lab_id):
        return list(
            pages.model._default_manager.filter(**{pages.tenant_column: lab_id}).order_by("pk")
        )


def addresses_of(pages: TenantModelAdmin, pk: Any) -> list[str]:
    """Every address that names a row of this kind."""
    base = pages.list_url()
    ends = ["change", "history", "delete", *(page.slug for page in pages.pages)]
    return [f"{base}{pk}/{end}/" for end in ends]


def general_addresses(words: Iterable[str]) -> list[str]:
    """Home, and of each kind its list, its add page and searches for ``words``."""
    found = [
        "/admin/",
        "/admin/lab/",
        "/admin/experiments/",
        "/admin/chat/",
        "/admin/memory/",
        "/admin/questionnaires/",
        "/admin/core/",
    ]
    for pages in tenant_admins():
        base = pages.list_url()
        found += [base, f"{base}add/", *(f"{base}?q={word}" for word in words)]
        found += [
            f"/admin/autocomplete/?term=&app_label={pages.opts.app_label}&model_name={pages.opts.model_name}&field_name={name}"
            for name in pages.autocomplete_fields
        ]
    return found


@dataclass
class Crawl:
    """What came back, by address."""

    bodies: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)

    def with_word(self, word: str) -> list[str]:
        """Addresses whose answer holds ``word``; an echo of the address itself doesn't count."""
        return [
            address
            for address, body in self.bodies.items()
            if word.encode() in body and word not in address
        ]


def crawl(client: Client, start: Iterable[str], *, limit: int = 700) -> Crawl:
    """GET every address and whatever it links to."""
    found = Crawl()
    waiting = list(dict.fromkeys(start))
    while waiting and len(found.bodies) < limit:
        address = waiting.pop(0)
        response = client.get(address)
        body = response.content
        found.bodies[address], found.statuses[address] = body, response.status_code
        waiting += [
            link for link in _links(body) if link not in found.bodies and link not in waiting
        ]
    return found


def _links(body: bytes) -> Iterator[str]:
    for raw in LINK.findall(body):
        link = CAME_FROM.sub("", unescape(raw.decode()))
        if not link.startswith(AVOID):
            yield link
