"""The chat page."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from chat.steps import PATIENCE
from experiments.enums import SessionState
from experiments.models import Participant, Session
from experiments.participants import for_participant, paragraphs
from memlab.core.clock import wall_now
from memlab.core.ledger import Job


@require_safe
@for_participant
def conversation(request: HttpRequest, participant: Participant, session_id: UUID) -> HttpResponse:
    """The conversation of one session; a waiting page while its memory is being prepared."""
    session = get_object_or_404(
        Session.objects.select_related("version"),
        lab_id=participant.lab_id,
        pk=session_id,
        participant=participant,
    )
    after = reverse("journey:after", args=[session.id])
    if session.state not in (SessionState.OPEN, SessionState.CLOSING):
        return redirect(after)
    if _preparing(participant):
        return render(request, "journey/waiting.html", {"study": participant.study})
    stage, language = session.stage, session.version.configuration.language
    context = {
        "study": participant.study,
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
    return render(request, "chat/chat.html", context)


def _preparing(participant: Participant) -> bool:
    """Whether memory steps are pending that are worth waiting for on a page of their own."""
    oldest = Job.objects.pending_of(participant.public_id).first()
    return oldest is not None and wall_now() - oldest.created_at < timedelta(seconds=PATIENCE)
