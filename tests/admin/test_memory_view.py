"""The memory page: what was remembered, how it stood, where it came from, and who may see it."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client

from experiments.models import Lab
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memory.models import Episode
from memory.models.episode import Curve
from tests.admin.filled import FilledLab, fill
from tests.people import signed_in


@pytest.fixture
def ours(lab: Lab) -> FilledLab:
    return fill(lab, "CANARY")


def page_of(ours: FilledLab) -> str:
    return f"/admin/experiments/participant/{ours.participant.pk}/memory/"


def unblinded(ours: FilledLab) -> Client:
    client = signed_in("Alice", ours.lab)
    unblind = f"/admin/experiments/participant/{ours.participant.pk}/unblind/"
    assert client.post(unblind, {"reason": "to look at the memory"}).status_code == 302
    return client


def remembered(ours: FilledLab) -> Episode:
    with lab_scope(ours.lab.pk):
        return Episode.objects.get(participant=ours.participant)


def test_the_page_is_there_for_who_sees_the_arm_only(ours: FilledLab, other_lab: Lab) -> None:
    assert signed_in("Alice", ours.lab).get(page_of(ours)).status_code == 404
    assert signed_in("Charlie", other_lab).get(page_of(ours)).status_code == 404
    page = unblinded(ours).get(page_of(ours))
    assert page.status_code == 200
    assert ours.evidence in page.content.decode()


def test_one_memory_shows_its_curve_and_every_change(ours: FilledLab) -> None:
    episode = remembered(ours)
    with lab_scope(ours.lab.pk):
        Episode.objects.reconsolidate(
            [episode.pk],
            curve=Curve(initial_g=20.0, recall_threshold=0.45),
            now=wall_now() + timedelta(hours=1),
            reply=uuid4(),
        )
    html = unblinded(ours).get(page_of(ours), {"memory": str(episode.pk)}).content.decode()
    assert html.count("<polyline") == 1
    assert "recall_count</code> 0 → 1" in html
    assert ours.evidence in html


def test_a_memory_that_is_not_there_is_not_found(ours: FilledLab) -> None:
    client = unblinded(ours)
    assert client.get(page_of(ours), {"memory": str(uuid4())}).status_code == 404
    assert client.get(page_of(ours), {"memory": "' OR 1=1"}).status_code == 404


def test_filters_leave_out_what_they_name(ours: FilledLab) -> None:
    client = unblinded(ours)
    link = f"?memory={remembered(ours).pk}"
    assert link in client.get(page_of(ours), {"kind": "episode"}).content.decode()
    assert link in client.get(page_of(ours), {"text": ours.evidence.lower()}).content.decode()
    for nothing in ({"kind": "belief"}, {"state": "gone"}, {"text": "elsewhere"}):
        assert link not in client.get(page_of(ours), nothing).content.decode()
