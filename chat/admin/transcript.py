"""The transcript page: what was said, and beside each reply what it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from chat.models import Message, Receipt, Reply, ReplyState
from experiments.admin.participant import ParticipantAdmin, SessionAdmin
from experiments.back_office import ObjectPage, TenantModelAdmin
from experiments.back_office.codes import all_told, told
from experiments.models import Participant, Session
from experiments.rights import Area, Viewer, viewer_of
from memlab.core.values import Role
from memory.enums import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One memory of a receipt, ready to be shown."""

    kind: str
    text: str
    facts: tuple[tuple[str, str], ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReceipt:
    """A receipt with its readings in words."""

    receipt: Receipt
    recalled: tuple[Reading, ...]
    near_misses: tuple[Reading, ...]
    degraded: tuple[str, ...]
    fallback: str
    timings: tuple[tuple[Any, float], ...]


#: The steps of a turn in their order, in staff's words.
TIMINGS = {
    "wait": _("waited for memory"),
    "embed": _("embedding"),
    "recall": _("recall"),
    "tools": _("tool calls"),
    "first_token": _("first token"),
    "model_done": _("model"),
    "shown": _("shown"),
}


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A participant's message with its reply, or a line of the assistant alone."""

    said: Message | None
    answer: Message | None
    reply: Reply | None = None
    shown: ShownReceipt | None = None

    @property
    def failure(self) -> str:
        """Why there is no reply, in words."""
        return "" if self.reply is None else told(self.reply.failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPart:
    session: Session
    title: str
    exchanges: tuple[Exchange, ...]

    @property
    def degraded(self) -> str:
        """What memory lacks of this session, in words."""
        return all_told(self.session.degraded)


def parts_of(sessions: Iterable[Session], *, receipts: bool) -> list[SessionPart]:
    """The sessions' exchanges in order, with their receipts if asked for: three queries."""
    found = list(sessions)
    ids = [session.pk for session in found]
    messages: dict[UUID, list[Message]] = {key: [] for key in ids}
    for message in Message.objects.filter(session__in=ids).order_by("session", "seq"):
        messages[message.session_id].append(message)
    replies = {reply.message_id: reply for reply in Reply.objects.filter(session__in=ids)}
    kept = (
        {each.reply_id: each for each in Receipt.objects.filter(reply__session__in=ids)}
        if receipts
        else {}
    )
    return [
        SessionPart(
            session=session,
            title=session.stage.title,
            exchanges=tuple(_exchanges(messages[session.pk], replies, kept)),
        )
        for session in found
    ]


def _exchanges(
    messages: list[Message], replies: dict[UUID, Reply], receipts: dict[UUID, Receipt]
) -> list[Exchange]:
    by_question: dict[UUID, Exchange] = {}
    exchanges: list[Exchange] = []
    for message in messages:
        reply = replies.get(message.pk)
        if message.role == Role.ASSISTANT and reply is not None:
            exchange = by_question[reply.question_id]
            exchange.answer, exchange.reply = message, reply
            receipt = receipts.get(reply.pk)
            exchange.shown = None if receipt is None else shown(receipt)
            continue
        alone = message.role == Role.ASSISTANT
        exchange = Exchange(said=None if alone else message, answer=message if alone else None)
        by_question[message.pk] = exchange
        exchanges.append(exchange)
    return exchanges


def shown(receipt: Receipt) -> ShownReceipt:
    return ShownReceipt(
        receipt=receipt,
        recalled=tuple(_reading(each) for each in receipt.recalled),
        near_misses=tuple(_reading(each) for each in receipt.near_misses),
        degraded=tuple(told(code) for code in receipt.degraded),
        fallback=told(receipt.fallback_after),
        timings=tuple(
            (name, receipt.timings[step])
            for step, name in TIMINGS.items()
            if step in receipt.timings
        ),
    )


def _reading(row: dict[str, Any]) -> Reading:
    """r, elapsed, p, score and threshold where the architecture has them, and the reason."""
    numbers = (
        ("r", row.get("relevance"), "{:.3f}"),
        (_now("elapsed"), row.get("elapsed_days"), "{:.1f} " + _now("days")),
        ("p", row.get("probability"), "{:.3f}"),
        (_now("score"), row.get("score"), "{:.3f}"),
        (_now("threshold"), row.get("threshold"), "{:.2f}"),
    )
    known = set(Reason.values)
    return Reading(
        kind=row["kind"],
        text=row["text"],
        facts=tuple(
            (name, form.format(value)) for name, value, form in numbers if value is not None
        ),
        reason=str(Reason(row["reason"]).label) if row["reason"] in known else row["reason"],
    )


def _page(
    request: HttpRequest,
    pages: TenantModelAdmin,
    row: Participant | Session,
    participant: Participant,
    sessions: Iterable[Session],
) -> HttpResponseBase:
    viewer = viewer_of(request)
    assert viewer is not None
    unblinded = viewer.sees_arm_of(participant)
    context = pages.page_context(
        request,
        row,
        title=_now("Transcript of %(code)s") % {"code": participant.code},
        participant=participant,
        parts=parts_of(sessions, receipts=unblinded),
        sees_receipts=unblinded,
        may_unblind=viewer.member.may_unblind and not unblinded,
        failed=ReplyState.FAILED,
        pending=ReplyState.PENDING,
    )
    return render(request, "back_office/transcript.html", context)


def _of_participant(
    request: HttpRequest, pages: TenantModelAdmin, participant: Participant
) -> HttpResponseBase:
    sessions = participant.sessions.select_related("version").order_by("number")
    return _page(request, pages, participant, participant, sessions)


def _of_session(
    request: HttpRequest, pages: TenantModelAdmin, session: Session
) -> HttpResponseBase:
    return _page(request, pages, session, session.participant, [session])


def _reads_transcripts(viewer: Viewer, row: Participant | Session) -> bool:
    return viewer.may(Area.TRANSCRIPTS)


TRANSCRIPT = {
    "slug": "transcript",
    "title": _("Transcript"),
    "icon": "forum",
    "shown": _reads_transcripts,
}
ParticipantAdmin.pages.insert(0, ObjectPage(**TRANSCRIPT, view=_of_participant))  # type: ignore[arg-type]
SessionAdmin.pages.insert(0, ObjectPage(**TRANSCRIPT, view=_of_session))  # type: ignore[arg-type]
