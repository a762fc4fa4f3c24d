"""Two labs full of canaries: no role of one sees a byte of the other, anywhere."""

from __future__ import annotations

import pytest
from django.db.models import Model
from django.test import Client

from experiments.enums import AuditAction
from experiments.models import AuditEntry, ErasureReceipt, Lab, Withdrawal
from experiments.rights import UNBLINDED
from memlab.core.tenancy import lab_scope
from tests.admin.crawl import addresses_of, crawl, general_addresses, rows_of, tenant_admins
from tests.admin.filled import FilledLab, fill
from tests.people import member, signed_in

MINE, THEIRS = "CANARYALICE", "CANARYCHARLIE"
STAFF = ["Alice", "Bob", "Dora", "Erin"]


@pytest.fixture
def ours(lab: Lab) -> FilledLab:
    return fill(lab, MINE)


@pytest.fixture
def theirs(other_lab: Lab) -> FilledLab:
    filled = fill(other_lab, THEIRS)
    member("Charlie", other_lab)
    return filled


def unblinded(client: Client, filled: FilledLab) -> Client:
    """The browser, unblinded to everything of its lab's study."""
    session = client.session
    session[UNBLINDED] = {"lab": filled.lab.pk, "studies": [filled.study.pk], "participants": []}
    session.save()
    return client


def everything(filled: FilledLab) -> list[str]:
    """Every address of the lab, guessed or linked."""
    own = [
        address
        for pages in tenant_admins()
        for row in rows_of(pages, filled.lab.pk)
        for address in addresses_of(pages, row.pk)
    ]
    return general_addresses([MINE, THEIRS]) + own


@pytest.mark.parametrize("name", STAFF)
def test_no_role_sees_a_byte_it_should_not(name: str, ours: FilledLab, theirs: FilledLab) -> None:
    # A session that claims to be unblinded shows nothing without the permission.
    client = unblinded(signed_in(name, ours.lab), ours)
    found = crawl(client, everything(ours) + general_addresses([ours.evidence, "hybrid"]))
    assert len(found.bodies) > 120
    assert found.with_word(MINE)
    assert set(found.statuses.values()) <= {200, 302, 404}
    for word in (THEIRS, THEIRS.lower(), "Charlie"):
        assert not found.with_word(word), word
    for filled in (ours, theirs):
        assert not found.with_word(filled.secret)
    if name in ("Bob", "Dora"):
        for word in (*ours.arm_words, "987654"):
            assert not found.with_word(word), word


@pytest.mark.parametrize("name", STAFF)
def test_a_foreign_id_is_the_same_404_as_a_missing_one(
    name: str, ours: FilledLab, theirs: FilledLab
) -> None:
    client = unblinded(signed_in(name, ours.lab), ours)
    for pages in tenant_admins():
        foreign = rows_of(pages, theirs.lab.pk)
        assert foreign, f"{pages.model} has no row to guess at"
        missing = (
            "00000000-0000-4000-8000-000000000000" if "-" in str(foreign[0].pk) else "987654321"
        )
        nowhere = [client.get(address) for address in addresses_of(pages, missing)]
        for row in foreign:
            for address, none in zip(addresses_of(pages, row.pk), nowhere, strict=True):
                guessed, posted = client.get(address), client.post(address, {"post": "yes"})
                assert (guessed.status_code, none.status_code, posted.status_code) == (
                    404,
                    404,
                    404,
                )
                assert guessed.content == none.content


def test_rows_of_another_lab_are_no_choice(ours: FilledLab, theirs: FilledLab) -> None:
    client = signed_in("Alice", ours.lab)
    response = client.post(
        "/admin/experiments/arm/add/",
        {
            "study": theirs.study.pk,
            "key": "x",
            "name": "x",
            "label": "x",
            "weight": 1,
            "architecture": "sensory",
            "preset": "",
        },
    )
    assert response.status_code == 200
    assert "study" in response.context["adminform"].form.errors
    choices = client.get(
        "/admin/autocomplete/?term=&app_label=experiments&model_name=arm&field_name=study"
    ).json()["results"]
    assert [choice["text"] for choice in choices] == [ours.study.title]


def test_a_blinded_search_finds_nothing_by_what_is_hidden(ours: FilledLab) -> None:
    client = signed_in("Bob", ours.lab)
    for pages in tenant_admins():
        response = client.get(f"{pages.list_url()}?q={ours.evidence}")
        assert response.status_code == 404 or response.context["cl"].result_count == 0
    for guess in ("allocations__arm_key=x", "sessions__degraded__isnull=0"):
        response = client.get(f"/admin/experiments/participant/?{guess}")
        assert response.status_code in (302, 400, 404)


#: What nobody who is blinded, or no member of staff at all, is shown of rows that they may see.
HIDDEN = (
    "experiments/session/?degraded__icontains=x",
    "experiments/session/?participant__study__allocation_seed__startswith=x",
    "experiments/study/?allocation_seed__startswith=x",
    "experiments/participant/?password__startswith=x",
    "experiments/participant/?study__allocation_seed__startswith=x",
    "experiments/withdrawal/?parts__has_key=memory.Episode",
    "chat/reply/?failure=timeout",
    "chat/reply/?failure_detail__icontains=x",
)


@pytest.mark.parametrize("question", HIDDEN)
def test_no_list_can_be_asked_by_what_it_does_not_show(ours: FilledLab, question: str) -> None:
    client = signed_in("Bob", ours.lab)
    assert client.get(f"/admin/{question}").status_code == 400


def test_lists_can_be_asked_by_their_filters_and_by_our_links(ours: FilledLab) -> None:
    client = signed_in("Bob", ours.lab)
    for question in (
        f"experiments/participant/?version__id__exact={ours.participant.version_id}",
        f"experiments/participant/?study__id__exact={ours.study.pk}&paused_at__isempty=1",
        "chat/reply/?state__exact=done&retryable__exact=0",
        "chat/adverseevent/?alert__in=none,failed",
    ):
        response = client.get(f"/admin/{question}")
        assert response.status_code == 200, question
        assert response.context["cl"].result_count >= 1, question


def test_the_log_tells_no_arm_to_whoever_is_blinded(ours: FilledLab) -> None:
    with lab_scope(ours.lab.pk):
        for action in (AuditAction.CONSOLIDATE_BY_HAND, AuditAction.EXTEND_WINDOW):
            AuditEntry.objects.record(action, target=ours.participant)
    client = signed_in("Alice", ours.lab)
    pages = (
        "/admin/experiments/auditentry/",
        f"/admin/experiments/participant/{ours.participant.pk}/history/",
    )
    for page in pages:
        body = client.get(page).content.decode()
        assert "extended a window" in body
        assert "had a memory consolidated" not in body
    unblinded(client, ours)
    for page in pages:
        assert "had a memory consolidated" in client.get(page).content.decode()


def test_a_researcher_designs_arms_but_does_not_see_who_has_which(ours: FilledLab) -> None:
    client = unblinded(signed_in("Erin", ours.lab), ours)
    assert client.get("/admin/experiments/arm/").status_code == 200
    found = crawl(client, everything(ours))
    seen = [
        address
        for address in found.with_word(ours.evidence)
        if "/auditentry/" not in address and "/history/" not in address
    ]
    assert not seen
    for kind in ("experiments/allocation", "chat/receipt", "memory/episode", "core/job"):
        assert client.get(f"/admin/{kind}/").status_code == 404


def row_page(ours: FilledLab, kind: type[Model]) -> str:
    with lab_scope(ours.lab.pk):
        meta, pk = kind._meta, kind._default_manager.values_list("pk", flat=True)[0]
    return f"/admin/{meta.app_label}/{meta.model_name}/{pk}/change/"


def test_permission_to_unblind_is_not_yet_unblinded(ours: FilledLab) -> None:
    client = signed_in("Alice", ours.lab)
    transcript = f"/admin/experiments/session/{ours.session.pk}/transcript/"
    blinded = client.get(transcript).content.decode()
    assert ours.evidence not in blinded
    assert "Fallback" not in blinded
    assert client.get("/admin/chat/receipt/").context["cl"].result_count == 0
    removed = [row_page(ours, Withdrawal), row_page(ours, ErasureReceipt)]
    for counts in removed:  # how many rows went tells what memory there was
        assert ours.evidence not in client.get(counts).content.decode()
    unblind = f"/admin/experiments/participant/{ours.participant.pk}/unblind/"
    assert client.post(unblind, {"reason": "a complaint"}).status_code == 302
    for counts in removed:
        assert ours.evidence in client.get(counts).content.decode()
    page = client.get(transcript).content.decode()
    assert ours.evidence in page
    assert f"<b>save_memory</b> <code>{ours.evidence}</code>" in page
    assert "rounds 2" in page
    assert "Fallback answered: no answer in time" in page
    assert client.get("/admin/chat/receipt/").context["cl"].result_count == 1
    history = client.get(f"/admin/experiments/participant/{ours.participant.pk}/history/")
    assert "a complaint" in history.content.decode()
    client.post("/admin/blind/")
    assert ours.evidence not in client.get(transcript).content.decode()
