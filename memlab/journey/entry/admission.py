"""Who comes by a link, and whether they can be in the study. No pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from zoneinfo import available_timezones

from django.db import IntegrityError, transaction

from experiments.enums import Exclusion, ParticipantState, StudyStatus
from experiments.models import (
    EntryLink,
    Identifier,
    Identity,
    Participant,
    Recruiter,
    Study,
    Tombstone,
)


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody at a study's door: by which link, and who they are as far as it says.

    ``participant`` is who they are already; ``identity`` what a recruiter calls them.
    """

    link: EntryLink
    study: Study
    participant: Participant | None = None
    recruiter: Recruiter | None = None
    identity: Identity | None = None
    identities: Sequence[Identity] = field(default=())

    @property
    def is_in(self) -> bool:
        """Whether they have agreed to take part before, whatever became of it."""
        return self.participant is not None and self.participant.consented_at is not None

    def is_barred(self) -> bool:
        """Whether they once had their data in this study erased."""
        return Tombstone.objects.bars(self.study, self.identities)

    def leads_nobody_new(self) -> bool:
        """Whether the recruiter's study is of a later stage, for those who are in the study."""
        stage = None if self.recruiter is None else self.recruiter.stage
        if stage is None or self.participant is not None:
            return False
        return self.study.stages.filter(number__lt=stage.number).exists()


def admits(study: Study, *, test_mode: bool) -> bool:
    """Real participants come to an open study; test runs also while it is being made."""
    if test_mode:
        return study.status not in (StudyStatus.CLOSED, StudyStatus.ARCHIVED)
    return study.status == StudyStatus.OPEN


def enrol(visit: Visit, *, time_zone: str) -> Participant:
    """The visitor as a participant: who they are, or a new one.

    Two visits at once under one recruiter's id are one participant: the second transaction waits
    at the unique digest, is undone as far as its savepoint, and finds the first's.
    """
    participant = visit.participant or _created(visit)
    if not participant.time_zone:
        participant.know_time_zone(known_zone_or_none(time_zone))
    if not visit.is_in and _took_part_before(visit, participant):
        participant.turn_away(ParticipantState.INELIGIBLE, Exclusion.EARLIER)
    return participant


def _created(visit: Visit) -> Participant:
    try:
        with transaction.atomic():
            participant = Participant.objects.create(
                study=visit.study, test_mode=visit.link.test_mode, recruiter=visit.recruiter
            )
            if visit.identity is not None:
                Identifier.objects.keep(participant, visit.identity)
            return participant
    except IntegrityError:
        holder = _holder(visit)
        if holder is None:
            raise
        return holder


def _holder(visit: Visit) -> Participant | None:
    if visit.identity is None:
        return None
    return Identifier.objects.holder(visit.study, visit.identity, test_mode=visit.link.test_mode)


def _took_part_before(visit: Visit, participant: Participant) -> bool:
    return any(excludes(participant, identity) for identity in visit.identities)


def excludes(participant: Participant, identity: Identity) -> bool:
    """Whether the study excludes this person for having been in another one of the lab.

    Test runs never count, on either side.
    """
    study = participant.study
    rules = (participant.version or study.version()).configuration.entry
    return (
        rules.excludes_earlier
        and not participant.test_mode
        and Identifier.objects.took_part_elsewhere(study, identity)
    )


def known_zone_or_none(name: str) -> str:
    """A time zone as a browser names it, or nothing, which stands for the study's."""
    return name if name in available_timezones() else ""
