"""The chat page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from chat import telemetry
from experiments.enums import SessionState
from experiments.models import Participant, Session
from experiments.participants import for_participant, paragraphs
from memlab.core.clock import wall_now


@require_safe
@for_participant
def conversation(request: HttpRequest, participant: Participant, session_id: UUID) -> HttpResponse:
    """The conversation of one session; a waiting page in its first moments."""
    session = get_object_or_404(
        Session.objects.select_related("version"),
        lab_id=participant.lab_id,
        pk=session_id,
        participant=participant,
    )
    after = reverse("journey:after", args=[session.id])
    if session.state not in (SessionState.OPEN, SessionState.CLOSING):
        return redirect(after)
    if _preparing(session, participant):
        return render(request, "journey/waiting.html", {"study": participant.shown_study})
    stage, language = session.stage, session.version.configuration.language
    context: dict[str, Any] = {
        "study": participant.shown_study,
        "stage": {"title": stage.title, "instructions": paragraphs(stage.briefing)},
        "chat_config": {
            "websocket_path": f"/ws/chat/{session.id}/",
            "language": language,
            "limits": {
                "message_characters": settings.CHAT_MESSAGE_CHARACTERS,
                "frame_bytes": settings.CHAT_FRAME_BYTES,
            },
            "ai_notice": _("You are talking with an AI, not with a person."),
            "next_url": after,
        },
    }
    if telemetry.agreed(participant):
        context["chat_config"]["writing_url"] = reverse("chat:writing", args=[session.id])
    return render(request, "chat/chat.html", context)


@require_POST
@for_participant
def writing(request: HttpRequest, participant: Participant, session_id: UUID) -> HttpResponse:
    """Keep how a message was written, of whoever has agreed to that. Sending it twice is once."""
    session = get_object_or_404(
        Session, lab_id=participant.lab_id, pk=session_id, participant=participant
    )
    try:
        client_id, measured = telemetry.read(request.body)
    except telemetry.Unreadable:
        return HttpResponse(status=400)
    kept = telemetry.keep(participant, session, client_id, measured)
    return HttpResponse(status=204 if kept else 404)


def _preparing(session: Session, participant: Participant) -> bool:
    """Whether the conversation has only just been opened.

    The session's age alone decides, never what its memory still has to do: that differs between
    arms, and whoever saw this page longer, or at all, would know of it. What isn't ready by then
    is waited for by the first reply.
    """
    if not (session.manipulation and session.version.configuration.pacing.enabled):
        return False
    age = participant.study_time(wall_now()) - session.started_at
    return age < timedelta(seconds=settings.CHAT_PREPARING_SECONDS)
