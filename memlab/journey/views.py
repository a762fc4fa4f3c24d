"""The bare address."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from experiments.access import recognise


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    """The bare address: participants go home, others learn where they are."""
    if recognise(request.COOKIES) is not None:
        return redirect("journey:home")
    return render(request, "journey/front.html")
