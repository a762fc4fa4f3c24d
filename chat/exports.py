"""A study's transcripts as CSV: rows by the session, chunk by chunk, raw or safe for Excel.

Left out, unless they are asked for, are test runs and those who, once debriefed, refused the use of
their data. How a message was written stands beside it, of those who agreed to its being measured.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from chat.models import Message, Reply, ReplyState, Writing
from experiments.enums import ConsentKind
from experiments.models import Allocation, Consent, Session
from memlab.core.csv_files import Column, CsvForm, iso, written
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit

SESSIONS_A_CHUNK = 20

COLUMNS = (
    Column(name="participant", meaning=_("The participant's random code.")),
    Column(name="test_run", meaning=_("1 for a test run, else 0.")),
    Column(
        name="refused_use",
        meaning=_("1 for whoever, once debriefed, refused the use of their data, else 0."),
    ),
    Column(name="study_version", meaning=_("Number of the frozen version the session ran under.")),
    Column(name="stage", meaning=_("Key of the stage.")),
    Column(name="session", meaning=_("Number of the participant's session, from 1.")),
    Column(name="session_state", meaning=_("open, closing, ended, complete or expired.")),
    Column(name="seq", meaning=_("Number of the message within its session, from 1.")),
    Column(name="role", meaning=_("participant or assistant.")),
    Column(
        name="reply_state",
        meaning=_("done, pending or failed for a reply; empty for anything else."),
    ),
    Column(name="at_study", meaning=_("Study time, ISO 8601, UTC.")),
    Column(name="at_wall", meaning=_("Wall time, ISO 8601, UTC; differs where days were skipped.")),
    Column(name="text", meaning=_("The message; empty where no reply came.")),
)
WRITING_COLUMNS = (
    Column(
        name="typing_ms",
        meaning=_(
            "Time typing the message, ms, without pauses of more than two seconds. This and the "
            "following are empty where nothing was measured or there is no consent to it."
        ),
    ),
    Column(name="pastes", meaning=_("Times that something was pasted into the message.")),
    Column(name="pasted_characters", meaning=_("Characters that were pasted.")),
    Column(name="departures", meaning=_("Times that the page was left before it was sent.")),
    Column(name="away_ms", meaning=_("Time away from the page, ms.")),
)
LABEL_COLUMN = Column(
    name="arm_label", meaning=_("Blinded label of the arm; empty before allocation.")
)

Row = tuple[str | int, ...]
NOT_MEASURED: Row = ("",) * len(WRITING_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptExport:
    """What to export. Without ``with_labels`` nothing in the file depends on the arm.

    ``refused``: with those who refused the use of their data.
    """

    lab_id: int
    study_id: int
    form: CsvForm
    test_runs: bool = False
    refused: bool = False
    with_labels: bool = False

    def columns(self) -> tuple[Column, ...]:
        return columns(with_labels=self.with_labels)


def columns(*, with_labels: bool) -> tuple[Column, ...]:
    """The columns of a file, in order."""
    return (*COLUMNS, *WRITING_COLUMNS, *((LABEL_COLUMN,) if with_labels else ()))


async def stream(export: TranscriptExport) -> AsyncIterator[bytes]:
    """The file, piece by piece: each chunk of sessions is one unit of work in its own scope, so
    nothing of it is held while the browser reads."""
    names = [column.name for column in export.columns()]
    yield written([names], export.form, first=True)
    sessions = await unit(_sessions, export)
    for start in range(0, len(sessions), SESSIONS_A_CHUNK):
        rows = await unit(rows_of, export, sessions[start : start + SESSIONS_A_CHUNK])
        if rows:
            yield written(rows, export.form)


def _sessions(export: TranscriptExport) -> list[UUID]:
    """Ids of the sessions to export, by participant and then in order."""
    with lab_scope(export.lab_id):
        sessions = Session.objects.filter(
            lab_id=export.lab_id, participant__study_id=export.study_id
        )
        if not export.test_runs:
            sessions = sessions.filter(participant__test_mode=False)
        if not export.refused:
            sessions = sessions.exclude(participant__in=_refusing(export.lab_id))
        return list(sessions.order_by("participant_id", "number").values_list("pk", flat=True))


def rows_of(export: TranscriptExport, session_ids: Sequence[UUID]) -> list[Row]:
    """The rows of some sessions, in the order of ``session_ids``."""
    with lab_scope(export.lab_id):
        messages = (
            Message.objects.filter(lab_id=export.lab_id, session__in=session_ids)
            .select_related("session__participant")
            .order_by("session__participant_id", "session__number", "seq")
        )
        states = dict(
            Reply.objects.filter(lab_id=export.lab_id, session__in=session_ids).values_list(
                "message_id", "state"
            )
        )
        versions = dict(
            Session.objects.filter(lab_id=export.lab_id, pk__in=session_ids).values_list(
                "pk", "version__number"
            )
        )
        refusing = set(_refusing(export.lab_id).filter(participant__sessions__in=session_ids))
        writings = _writings(export.lab_id, session_ids)
        labels = _labels(session_ids) if export.with_labels else None
        return [
            _row(
                message,
                states.get(message.pk, ""),
                versions[message.session_id],
                refused=message.session.participant_id in refusing,
            )
            + writings.get(message.pk, NOT_MEASURED)
            + (() if labels is None else (labels.get(message.session.participant_id, ""),))
            for message in messages
        ]


def _refusing(lab_id: int) -> QuerySet[Consent, int]:
    """Primary keys of participants who refused the use of their data."""
    refusing = Consent.objects.refusing_use().filter(lab_id=lab_id)
    return refusing.values_list("participant", flat=True)


def _writings(lab_id: int, session_ids: Sequence[UUID]) -> dict[UUID, Row]:
    """How each message was written, of those whose consent says yes to it."""
    agreed = Consent.objects.filter(lab_id=lab_id, kind=ConsentKind.TELEMETRY, agreed=True)
    measured = Writing.objects.filter(
        lab_id=lab_id,
        message__session__in=session_ids,
        message__session__participant__in=agreed.values("participant"),
    )
    names = [column.name for column in WRITING_COLUMNS]
    return {key: tuple(values) for key, *values in measured.values_list("message_id", *names)}


def _row(message: Message, state: str, version: int, *, refused: bool) -> Row:
    session, participant = message.session, message.session.participant
    said = state in ("", ReplyState.DONE)
    return (
        participant.code,
        int(participant.test_mode),
        int(refused),
        version,
        session.stage_key,
        session.number,
        session.state,
        message.seq,
        message.role,
        str(state),
        iso(message.at),
        iso(message.recorded_at),
        message.text if said else "",
    )


def _labels(session_ids: Sequence[UUID]) -> dict[int, str]:
    """The blinded label of each participant's arm, as their version has it."""
    allocations = (
        Allocation.objects.filter(participant__sessions__in=session_ids)
        .select_related("version")
        .distinct()
    )
    return {
        allocation.participant_id: allocation.version.configuration.arm(allocation.arm_key).label
        for allocation in allocations
    }
