"""What the roles of a lab may do in the back office, and who is unblinded to what.

Rights come from the membership of the active lab alone. Unblinding is a permission of the member
*and* an explicit act for one participant or one study: it is kept for the login session and every
act is an audit entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Q
from django.http import HttpRequest

from experiments.enums import AuditAction, MemberRole
from experiments.models import AuditEntry, Member, Participant, Study

UNBLINDED = "unblinded"


class Area(StrEnum):
    """A part of the back office that a role may see or change as a whole."""

    LAB = "lab"  # the lab and its members
    KEYS = "keys"  # keys to providers
    STUDIES = "studies"  # studies and stages, without their arms
    DESIGN = "design"  # arms and frozen versions, which name them
    PEOPLE = "people"  # participants, sessions, consents
    PAYMENTS = "payments"  # what participants have earned and were paid
    IDENTIFIERS = "identifiers"  # who somebody is: addresses and recruiters' ids
    TRANSCRIPTS = "transcripts"  # what was said
    EXPORT = "export"  # files that leave the installation
    AUDIT = "audit"
    EVIDENCE = "evidence"  # whatever depends on the arm: allocations, receipts, memories
    WORK = "work"  # steps of the memories; their failures depend on the arm too


class Right(StrEnum):
    VIEW = "view"
    CHANGE = "change"


_VIEW, _CHANGE = Right.VIEW, Right.CHANGE
#: Areas that need the member's ``may_unblind`` on top of the role.
UNBLINDED_AREAS = frozenset({Area.EVIDENCE, Area.WORK})
RIGHTS: dict[MemberRole, dict[Area, Right]] = {
    MemberRole.OWNER: dict.fromkeys(Area, _CHANGE),
    MemberRole.RESEARCHER: {
        Area.KEYS: _VIEW,
        Area.STUDIES: _CHANGE,
        Area.DESIGN: _CHANGE,
        Area.PEOPLE: _CHANGE,
        Area.PAYMENTS: _CHANGE,
        Area.IDENTIFIERS: _VIEW,
        Area.TRANSCRIPTS: _VIEW,
        Area.EXPORT: _VIEW,
        Area.AUDIT: _VIEW,
        Area.EVIDENCE: _VIEW,
        Area.WORK: _CHANGE,
    },
    MemberRole.ASSISTANT: {
        Area.STUDIES: _VIEW,
        Area.PEOPLE: _CHANGE,
        Area.PAYMENTS: _VIEW,
        Area.TRANSCRIPTS: _VIEW,
        Area.EVIDENCE: _VIEW,
    },
    MemberRole.ANALYST: {
        Area.STUDIES: _VIEW,
        Area.PEOPLE: _VIEW,
        Area.TRANSCRIPTS: _VIEW,
        Area.EXPORT: _VIEW,
        Area.EVIDENCE: _VIEW,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """A member at work, with the studies and participants they are unblinded to."""

    member: Member
    studies: frozenset[int]
    participants: frozenset[int]

    def may(self, area: Area, right: Right = Right.VIEW) -> bool:
        if area in UNBLINDED_AREAS and not self.member.may_unblind:
            return False
        given = RIGHTS[MemberRole(self.member.role)].get(area)
        return given is not None and (given is Right.CHANGE or right is Right.VIEW)

    @property
    def unblinded_to_any(self) -> bool:
        return self.member.may_unblind and bool(self.studies or self.participants)

    def sees_arm_of(self, participant: Participant) -> bool:
        return self.member.may_unblind and (
            participant.pk in self.participants or participant.study_id in self.studies
        )

    def sees_arms_of(self, study: Study) -> bool:
        return self.member.may_unblind and study.pk in self.studies

    def unblinded_people(self) -> Q:
        """Condition for participants this viewer is unblinded to."""
        if not self.member.may_unblind:
            return Q(pk__isnull=True)
        return Q(pk__in=self.participants) | Q(study_id__in=self.studies)

    def evidence(self, participant: str) -> Q:
        """Condition for rows of participants this viewer is unblinded to; ``participant`` is the
        lookup path to them, e.g. ``reply__session__participant``."""
        if not self.member.may_unblind:
            return Q(pk__in=[])
        return Q(**{f"{participant}_id__in": self.participants}) | Q(
            **{f"{participant}__study_id__in": self.studies}
        )


def viewer_of(request: HttpRequest) -> Viewer | None:
    """Who is looking; None without an active lab."""
    member: Member | None = request.member  # type: ignore[attr-defined]
    if member is None:
        return None
    kept = _kept(request, member.lab_id)
    return Viewer(
        member=member,
        studies=frozenset(kept["studies"]),
        participants=frozenset(kept["participants"]),
    )


def unblind(request: HttpRequest, target: Study | Participant, *, reason: str) -> None:
    """Unblind the viewer to a participant or a study until they log out, and log it."""
    member: Member = request.member  # type: ignore[attr-defined]
    kept = _kept(request, member.lab_id)
    ids = kept["studies" if isinstance(target, Study) else "participants"]
    if target.pk not in ids:
        ids.append(target.pk)
    request.session[UNBLINDED] = kept
    AuditEntry.objects.record(
        AuditAction.UNBLIND, user_id=request.user.pk, target=target, reason=reason
    )


def blind_again(request: HttpRequest) -> None:
    request.session.pop(UNBLINDED, None)


def _kept(request: HttpRequest, lab_id: int) -> dict[str, Any]:
    kept = request.session.get(UNBLINDED)
    if not isinstance(kept, dict) or kept.get("lab") != lab_id:
        return {"lab": lab_id, "studies": [], "participants": []}
    return kept
