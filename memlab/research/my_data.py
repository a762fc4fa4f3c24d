"""The page on which participants take their data with them."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from experiments.models import Participant
from experiments.participants import for_participant
from memlab.core.clock import wall_now
from memlab.research import access


@require_http_methods(["GET", "HEAD", "POST"])
@for_participant
def my_data(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Say what is in the file, and hand it over at a click. Not there where a study forbids it."""
    if not participant.study.self_access:
        raise Http404
    with_arm = access.may_know_arm(participant)
    if request.method == "POST":
        return download(
            access.archive(participant, with_arm=with_arm, wall=wall_now()), participant.code
        )
    context = {
        "study": participant.shown_study,
        "with_arm": with_arm,
        "home_url": reverse("journey:home"),
    }
    return render(request, "journey/my_data.html", context)


def download(archive: bytes, code: str) -> HttpResponse:
    """A whole archive as a file that no cache keeps."""
    response = HttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="memlab-{code}.zip"'
    response["Cache-Control"] = "no-store"
    return response
