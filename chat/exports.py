"""A study's transcripts as CSV: rows by the session, chunk by chunk, raw or safe for Excel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from chat.models import Message, Reply, ReplyState
from experiments.models import Allocation, Session
from memlab.core.csv_files import Column, CsvForm, iso, written
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit

SESSIONS_A_CHUNK = 20

COLUMNS = (
    Column(name="participant", meaning=_("The participant's random code.")),
    Column(name="test_run", meaning=_("1 for a test run, else 0.")),
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
LABEL_COLUMN = Column(
    name="arm_label", meaning=_("Blinded label of the arm; empty before allocation.")
)

Row = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptExport:
    """What to export. Without ``with_labels`` nothing in the file depends on the arm."""

    lab_id: int
    study_id: int
    form: CsvForm
    test_runs: bool = False
    with_labels: bool = False

    def columns(self) -> tuple[Column, ...]:
        return (*COLUMNS, LABEL_COLUMN) if self.with_labels else COLUMNS


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
        labels = _labels(session_ids) if export.with_labels else None
        return [
            _row(message, states.get(message.pk, ""), versions[message.session_id])
            + (() if labels is None else (labels.get(message.session.participant_id, ""),))
            for message in messages
        ]


def _row(message: Message, state: str, version: int) -> Row:
    session, participant = message.session, message.session.participant
    said = state in ("", ReplyState.DONE)
    return (
        participant.code,
        int(participant.test_mode),
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
