"""Which lab a member of staff works in: ``request.member`` and ``request.lab_id``."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from experiments.enums import AuditAction, MemberRole
from experiments.models import AuditEntry, LabDirectory, Member, User
from experiments.rights import blind_again
from memlab.core.tenancy import lab_scope

LAB_KEY = "lab_id"


class ActiveLabMiddleware:
    """Checks the session's lab against the memberships at every request.

    Opens no scope: a scope around the handler would commit after an error page. Browsers without
    a staff session, so every participant's, cost nothing.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        known = settings.SESSION_COOKIE_NAME in request.COOKIES
        member = active_member(request) if known else None
        request.member = member  # type: ignore[attr-defined]
        request.lab_id = None if member is None else member.lab_id  # type: ignore[attr-defined]
        return self.get_response(request)


def active_member(request: HttpRequest) -> Member | None:
    """The membership the session has chosen, or the only one there is."""
    if not request.user.is_authenticated:
        return None
    memberships = memberships_of(request.user)
    chosen = request.session.get(LAB_KEY)
    if chosen is None:
        return memberships[0] if len(memberships) == 1 else None
    for member in memberships:
        if member.lab_id == chosen:
            return member
    if request.user.is_operator and LabDirectory.objects.filter(pk=chosen).exists():
        return _visiting(request.user, chosen)
    return None


def memberships_of(user: User) -> list[Member]:
    memberships = list(Member.objects.filter(user=user).order_by("pk"))
    for member in memberships:
        member.user = user
    return memberships


def switch_lab(request: HttpRequest, lab_id: int) -> bool:
    """Work in another lab from now on; False if the user has no business there.

    An operator's visit to a lab they are no member of is written into that lab's audit log.
    """
    user = request.user
    assert user.is_authenticated
    member = any(each.lab_id == lab_id for each in memberships_of(user))
    if not member:
        if not (user.is_operator and LabDirectory.objects.filter(pk=lab_id).exists()):
            return False
        with lab_scope(lab_id):
            AuditEntry.objects.record(AuditAction.OPERATOR_SWITCHED_IN, user_id=user.pk)
    blind_again(request)
    request.session[LAB_KEY] = lab_id
    return True


def _visiting(user: User, lab_id: int) -> Member:
    """An operator's unsaved place in a lab: everything an owner may, but never unblinded."""
    return Member(user=user, lab_id=lab_id, role=MemberRole.OWNER, may_unblind=False)
