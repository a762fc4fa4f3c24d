"""What a page of the back office shows is made for people, not for Python."""

from __future__ import annotations

import re

from django.test import Client

from experiments.models import Lab
from experiments.rights import UNBLINDED
from tests.admin.crawl import rows_of, tenant_admins
from tests.admin.filled import FilledLab, fill
from tests.people import signed_in

#: How Python writes a moment and a tuple.
RAW = re.compile(r".{0,30}(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\(&#x27;|datetime\.).{0,30}")


def unblinded_owner(filled: FilledLab) -> Client:
    client = signed_in("Alice", filled.lab)
    session = client.session
    session[UNBLINDED] = {"lab": filled.lab.pk, "studies": [filled.study.pk], "participants": []}
    session.save()
    return client


def test_no_row_is_shown_in_python_s_own_words(lab: Lab) -> None:
    client = unblinded_owner(fill(lab, "CANARY"))
    shown = {
        address: response.content.decode()
        for pages in tenant_admins()
        for row in rows_of(pages, lab.pk)[:2]
        if (response := client.get(address := f"{pages.list_url()}{row.pk}/change/")).status_code
        == 200
    }
    assert len(shown) > 40
    assert {at: found for at, body in shown.items() if (found := RAW.findall(body))} == {}
