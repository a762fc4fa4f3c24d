"""What of the entry is still missing."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.urls import reverse

from experiments.enums import Exclusion, IdentifierKind, Moment, ParticipantState
from experiments.facts import value_of
from experiments.models import Participant, StudyVersion
from experiments.screening import screen_out_rules
from memlab.core.clock import wall_now
from questionnaires import responses

UNDER_WAY = (ParticipantState.INVITED, ParticipantState.ACTIVE)


def next_page(participant: Participant) -> str | None:
    """The address of what is missing before the first stage; None when nothing is, and for those
    whose participation is over.

    Whoever is screened out by their answers is so from here on, and led to the end.
    """
    if participant.state not in UNDER_WAY:
        return None
    if participant.consented_at is None:
        return reverse(f"journey:{_before_consent(participant)}")
    if asks_contact(participant) and participant.contact_asked_at is None:
        return reverse("journey:contact")
    if participant.code_seen_at is None:
        return reverse("journey:code")
    return _questionnaires(participant)


def _before_consent(participant: Participant) -> str:
    try:
        version = participant.study.version()
    except ValidationError:  # a draft in a test run, of which that page says what is wrong
        return "information"
    if must_ask_age(participant, version):
        return "age"
    return "consent" if participant.read_version_id == version.pk else "information"


def must_ask_age(participant: Participant, version: StudyVersion) -> bool:
    """Also of those who were asked for a lower age, by a version that they have read."""
    minimum = version.configuration.entry.minimum_age
    read = participant.read_version
    asked_before = minimum if read is None else read.configuration.entry.minimum_age
    return minimum > 0 and (participant.of_age_at is None or asked_before < minimum)


def asks_contact(participant: Participant) -> bool:
    """Whether an e-mail address is asked for: the study wants one, the recruiter allows it, and
    there is none yet."""
    assert participant.version is not None
    if not participant.version.configuration.entry.asks_email:
        return False
    if participant.recruiter is not None and participant.recruiter.forbids_email:
        return False
    return (
        participant.contact_asked_at is not None
        or not participant.identifiers.filter(kind=IdentifierKind.EMAIL).exists()
    )


def _questionnaires(participant: Participant) -> str | None:
    wall = wall_now()
    for moment in (Moment.SCREENING, Moment.BASELINE):
        response = responses.next_open(participant, moment, wall=wall)
        if response is not None:
            return reverse("questionnaires:answer", args=[response.pk])
        if moment is Moment.SCREENING and _is_screened_out(participant):
            participant.turn_away(ParticipantState.SCREENED_OUT, Exclusion.SCREENING)
            return reverse("journey:end")
    return None


def _is_screened_out(participant: Participant) -> bool:
    """By any rule of the version. Whoever has begun a stage is in: their version can't change."""
    assert participant.version is not None
    rules = screen_out_rules(participant.version.configuration.entry.screen_out)
    return bool(rules) and any(rule.holds(value_of(participant, rule.source)) for rule in rules)
