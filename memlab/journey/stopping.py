"""The page behind the link that every reminder holds: no more of them, by one click."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from experiments.models import Participant
from experiments.participants import message
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.journey import addresses


@never_cache
@csrf_exempt  # a mail program posts here; the signed token says for whom, and no cookie does
@require_http_methods(["GET", "HEAD", "POST"])
def stop_reminders(request: HttpRequest, token: str) -> HttpResponse:
    """Ask first: mail programs open links on their own. No cookie is needed, or given."""
    owner = addresses.whose_stop(token)
    if owner is None:
        raise Http404
    with lab_scope(owner.lab_id):
        participant = get_object_or_404(
            Participant.objects.select_related("study"),
            lab_id=owner.lab_id,
            public_id=owner.participant,
        )
        with translation.override(participant.shown_study.language):
            if request.method == "POST":
                participant.stop_reminders(wall=wall_now())
            if participant.reminders_stopped_at is not None:
                return message(
                    request,
                    title=_("No more reminders"),
                    text=_("You are still taking part, and your link leads back as before."),
                    study=participant.shown_study,
                )
            return render(
                request, "journey/stop_reminders.html", {"study": participant.shown_study}
            )
