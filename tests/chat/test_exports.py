"""The transcripts' CSV: streamed, raw or safe for Excel, and silent about the arms."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from chat import exports
from chat.exports import COLUMNS, WRITING_COLUMNS, TranscriptExport, stream
from chat.models import Message, Writing
from chat.models.message import message_id
from experiments.enums import ConsentKind
from experiments.models import AuditEntry, Consent, Lab, Participant, Session, Study
from experiments.models.debriefing import answer_debriefing
from experiments.rights import UNBLINDED
from memlab.core.clock import wall_now
from memlab.core.csv_files import CsvForm, excel_safe, iso
from memlab.core.tenancy import lab_scope
from tests.people import signed_in
from tests.studies import enrol, enter, make_study

TEXTS = [
    "plain", "=1+1", "+49", "-x", "@sum", "\ttab", "\rreturn", "＝全角", "＋", "－", "＠",
    'with "quotes", commas\nand lines', "我喜欢做面包 🍞", "'already", " =not first",
]  # fmt: skip


@pytest.fixture
def study(transactional_db: None, lab: Lab) -> Study:
    return make_study(lab, stages={"opening_line": ""})


@pytest.fixture(autouse=True)
async def no_connection_stays(transactional_db: None) -> AsyncIterator[None]:
    """The thread that serves these tests' synchronous parts would hold the test database."""
    yield
    await sync_to_async(connections.close_all)()


def say_all(participant: Participant, texts: list[str]) -> Session:
    """A session whose messages say ``texts``."""
    session = enter(participant)
    now = wall_now()
    with lab_scope(participant.lab_id):
        Message.objects.bulk_create(
            Message(
                id=message_id(session.pk, seq),
                session=session,
                seq=seq,
                role="participant",
                text=text,
                client_id=uuid4(),
                at=now + timedelta(days=2),
                recorded_at=now,
            )
            for seq, text in enumerate(texts, start=1)
        )
    return session


async def exported(export: TranscriptExport) -> bytes:
    return b"".join([piece async for piece in stream(export)])


def of(study: Study, form: CsvForm = CsvForm.RAW, **options: bool) -> TranscriptExport:
    return TranscriptExport(lab_id=study.lab_id, study_id=study.pk, form=form, **options)


def parsed(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


async def test_raw_values_come_back_byte_for_byte(study: Study) -> None:
    participant = await sync_to_async(enrol)(study)
    session = await sync_to_async(say_all)(participant, TEXTS)
    content = await exported(of(study))
    assert not content.startswith(b"\xef\xbb\xbf")
    rows = parsed(content)
    assert [row["text"] for row in rows] == TEXTS
    assert list(rows[0]) == [column.name for column in (*COLUMNS, *WRITING_COLUMNS)]
    stored = await first_message(participant.lab_id, session)
    assert (rows[0]["at_study"], rows[0]["at_wall"]) == (iso(stored.at), iso(stored.recorded_at))
    assert rows[0]["at_study"].endswith("Z")
    assert (rows[0]["participant"], rows[0]["stage"], rows[0]["seq"]) == (
        participant.code,
        "T1",
        "1",
    )


@sync_to_async
def first_message(lab_id: int, session: Session) -> Message:
    with lab_scope(lab_id):
        return Message.objects.get(session=session, seq=1)


async def test_excel_takes_nothing_for_a_formula_and_loses_nothing(study: Study) -> None:
    participant = await sync_to_async(enrol)(study)
    await sync_to_async(say_all)(participant, TEXTS)
    content = await exported(of(study, CsvForm.EXCEL))
    assert content.startswith("\ufeffparticipant,".encode())
    texts = [row["text"] for row in parsed(content.removeprefix(b"\xef\xbb\xbf"))]
    assert texts == [excel_safe(text) for text in TEXTS]
    assert texts[:11] == ["plain", *(f"'{text}" for text in TEXTS[1:11])]
    assert texts[11:] == TEXTS[11:]


async def test_test_runs_stay_out_unless_asked_for(study: Study) -> None:
    person = await sync_to_async(enrol)(study)
    tester = await sync_to_async(enrol)(study, test_mode=True)
    await sync_to_async(say_all)(person, ["real"])
    await sync_to_async(say_all)(tester, ["tried"])
    assert [row["text"] for row in parsed(await exported(of(study)))] == ["real"]
    both = parsed(await exported(of(study, test_runs=True)))
    assert [(row["text"], row["test_run"]) for row in both] == [("real", "0"), ("tried", "1")]


@sync_to_async
def debriefed(participant: Participant, *, agreed: bool) -> None:
    """The participant has read the debriefing, and answers whether their data may be used."""
    with lab_scope(participant.lab_id):
        answer_debriefing(participant, agreed=agreed, now=wall_now())


async def test_who_refused_the_use_stays_out_unless_asked_for_and_is_marked(study: Study) -> None:
    for text, agreed in (("refused", False), ("agreed", True), ("unasked", None)):
        participant = await sync_to_async(enrol)(study)
        await sync_to_async(say_all)(participant, [text])
        if agreed is not None:
            await debriefed(participant, agreed=agreed)
    rows = parsed(await exported(of(study)))
    assert [(row["text"], row["refused_use"]) for row in rows] == [
        ("agreed", "0"),
        ("unasked", "0"),
    ]
    every = parsed(await exported(of(study, refused=True)))
    assert [(row["text"], row["refused_use"]) for row in every] == [
        ("refused", "1"),
        ("agreed", "0"),
        ("unasked", "0"),
    ]


@sync_to_async
def measured(participant: Participant, session: Session, *, agrees: bool | None) -> None:
    """How the session's first message was written, and what was said to measuring it."""
    with lab_scope(participant.lab_id):
        if agrees is not None:
            Consent.objects.create(
                participant=participant,
                kind=ConsentKind.TELEMETRY,
                agreed=agrees,
                version=participant.version,
                text="Times.",
                sha256="0" * 64,
                agreed_at=wall_now(),
            )
        Writing.objects.create(
            message=Message.objects.get(session=session, seq=1),
            typing_ms=5200,
            pastes=1,
            pasted_characters=40,
            departures=2,
            away_ms=900,
        )


async def test_how_a_message_was_written_is_told_of_those_who_agreed(study: Study) -> None:
    for agrees in (True, False, None):
        participant = await sync_to_async(enrol)(study)
        session = await sync_to_async(say_all)(participant, [f"{agrees}", "second"])
        await measured(participant, session, agrees=agrees)
    names = [column.name for column in WRITING_COLUMNS]
    rows = parsed(await exported(of(study)))
    told = {row["text"]: [row[name] for name in names] for row in rows if row["seq"] == "1"}
    nothing = [""] * 5
    assert told == {"True": ["5200", "1", "40", "2", "900"], "False": nothing, "None": nothing}
    assert all(row[name] == "" for row in rows if row["seq"] == "2" for name in names)


async def test_only_the_blinded_label_names_an_arm_and_only_if_asked(study: Study) -> None:
    participant = await sync_to_async(enrol)(study, arm="sensory")
    await sync_to_async(say_all)(participant, ["hello"])
    plain = await exported(of(study))
    assert b"sensory" not in plain
    assert "arm_label" not in parsed(plain)[0]
    labelled = await exported(of(study, with_labels=True))
    assert b"sensory" not in labelled
    assert parsed(labelled)[0]["arm_label"] == "A"


async def test_another_labs_study_gives_no_row(study: Study, other_lab: Lab) -> None:
    participant = await sync_to_async(enrol)(study)
    await sync_to_async(say_all)(participant, ["private"])
    foreign = TranscriptExport(lab_id=other_lab.pk, study_id=study.pk, form=CsvForm.RAW)
    assert parsed(await exported(foreign)) == []


async def test_twenty_thousand_messages_stream_in_pieces(study: Study, monkeypatch) -> None:
    sessions, length = 50, 400
    for _number in range(sessions):
        participant = await sync_to_async(enrol)(study)
        await sync_to_async(say_all)(participant, ["我说了一些话。" * 5] * length)
    asked: list[int] = []
    rows_of = exports.rows_of

    def counted(export: TranscriptExport, ids: list) -> list:
        asked.append(len(ids))
        return rows_of(export, ids)

    monkeypatch.setattr(exports, "rows_of", counted)
    pieces: list[int] = []
    total = 0
    async for piece in stream(of(study)):
        # Header before the first row was read; each piece before the next chunk was.
        assert len(asked) == len(pieces)
        pieces.append(len(piece))
        total += piece.count(b"\r\n")
    assert total == sessions * length + 1
    assert asked == [20, 20, 10]
    assert max(pieces) < 0.5 * sum(pieces)


async def test_the_download_is_the_file_and_is_logged(study: Study) -> None:
    participant = await sync_to_async(enrol)(study, arm="sensory")
    await sync_to_async(say_all)(participant, ["hello"])
    address = f"/admin/experiments/study/{study.pk}/transcripts/"
    for name, status in (("Alice", 200), ("Dora", 200), ("Bob", 404)):
        browser = await browser_of(name, study)
        response = await browser.post(address, {"form": "raw", "with_labels": "on"})
        assert response.status_code == status, name
        if status == 200:
            content = await body_of(response)
            assert [row["text"] for row in parsed(content)] == ["hello"]
            assert "arm_label" not in parsed(content)[0]  # nobody has unblinded
    owner = await browser_of("Alice", study, unblinded=True)
    response = await owner.post(address, {"form": "raw", "with_labels": "on"})
    content = await body_of(response)
    assert parsed(content)[0]["arm_label"] == "A"
    assert await logged(study, "with_labels") == [False, False, True]


async def test_files_with_refused_data_are_asked_for_by_name_and_logged(study: Study) -> None:
    participant = await sync_to_async(enrol)(study)
    await sync_to_async(say_all)(participant, ["hello"])
    await debriefed(participant, agreed=False)
    address = f"/admin/experiments/study/{study.pk}/transcripts/"
    browser = await browser_of("Dora", study)
    for form, texts in (({"form": "raw"}, []), ({"form": "raw", "refused": "on"}, ["hello"])):
        content = await body_of(await browser.post(address, form))
        assert [row["text"] for row in parsed(content)] == texts
    assert await logged(study, "refused") == [False, True]


async def body_of(response: Any) -> bytes:
    """A streamed answer, read as a server would."""
    return b"".join([piece async for piece in response.streaming_content])


@sync_to_async
def browser_of(name: str, study: Study, *, unblinded: bool = False) -> AsyncClient:
    """A browser that the real handler serves asynchronously, signed in as ``name``."""
    with lab_scope(study.lab_id):
        lab = Lab.objects.get(pk=study.lab_id)
    known = signed_in(name, lab)
    if unblinded:
        session = known.session
        session[UNBLINDED] = {"lab": lab.pk, "studies": [study.pk], "participants": []}
        session.save()
    client = AsyncClient()
    client.cookies = known.cookies
    return client


@sync_to_async
def logged(study: Study, option: str) -> list[bool]:
    """Whether each download was with an option, as the audit log has it."""
    with lab_scope(study.lab_id):
        entries = AuditEntry.objects.filter(action="export_transcripts").order_by("pk")
        return [entry.details[option] for entry in entries]
