"""What recruiters add to a link, and whether it is what a study expects. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from experiments.enums import RecruiterKind

#: An id longer than this is nobody's.
LONGEST = 100


@dataclass(frozen=True, slots=True)
class ParameterNames:
    """Names of the parameters in which a recruiter says who comes, by which of its studies, and in
    which submission. Empty: it doesn't say."""

    person: str
    study: str = ""
    session: str = ""


USUAL_NAMES = {
    RecruiterKind.PROLIFIC: ParameterNames("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    RecruiterKind.SONA: ParameterNames("id"),
    RecruiterKind.OTHER: ParameterNames("id"),
}
#: What the recruiter itself puts in for each parameter.
PLACEHOLDERS = {
    RecruiterKind.PROLIFIC: ("{{%PROLIFIC_PID%}}", "{{%STUDY_ID%}}", "{{%SESSION_ID%}}"),
    RecruiterKind.SONA: ("%SURVEY_CODE%", "", ""),
    RecruiterKind.OTHER: ("…", "…", "…"),
}


class Fault(StrEnum):
    """What is wrong with the parameters of a link."""

    MISSING = "missing"
    REPEATED = "repeated"
    UNFILLED = "unfilled"  # the recruiter's placeholder instead of what it stands for
    TOO_LONG = "too_long"
    UNREADABLE = "unreadable"
    FOREIGN = "foreign"  # another of the recruiter's studies


class BadArrival(ValueError):
    """The link's parameters don't say who comes. ``parameter`` is the one at fault."""

    def __init__(self, fault: Fault, parameter: str) -> None:
        super().__init__(f"{parameter} is {fault}.")
        self.fault = fault
        self.parameter = parameter


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who came, as the recruiter names them and the submission."""

    person: str
    session: str = ""


def arrival(
    query: Mapping[str, Sequence[str]], names: ParameterNames, *, expected_study: str = ""
) -> Arrival:
    """Read the parameters of a link, each with all its values. Raises BadArrival."""
    person = _read(query, names.person)
    study = _read(query, names.study) if names.study else ""
    if expected_study and study != expected_study:
        raise BadArrival(Fault.FOREIGN, names.study)
    return Arrival(person, _read(query, names.session) if names.session else "")


def _read(query: Mapping[str, Sequence[str]], name: str) -> str:
    values = query.get(name, ())
    if len(values) > 1:
        raise BadArrival(Fault.REPEATED, name)
    value = values[0].strip() if values else ""
    if not value:
        raise BadArrival(Fault.MISSING, name)
    if len(value) > LONGEST:
        raise BadArrival(Fault.TOO_LONG, name)
    if any(mark in value for mark in "{}%"):
        raise BadArrival(Fault.UNFILLED, name)
    if not value.isprintable() or any(character.isspace() for character in value):
        raise BadArrival(Fault.UNREADABLE, name)
    return value
