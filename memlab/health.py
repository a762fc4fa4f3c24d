"""Whether this installation works: for load balancers, `make run`, and people."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_q.status import Stat


@require_safe
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 if the database answers; says of the task clusters how many hearts beat."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        clusters = len(Stat.get_all())
    except DatabaseError:
        return JsonResponse({"database": "down"}, status=503)
    return JsonResponse({"database": "up", "task_clusters": clusters})
