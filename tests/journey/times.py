"""Studies with windows and reminders, and participants who are waited for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from experiments.enums import IdentifierKind, Moment
from experiments.models import Identifier, Identity, Lab, Participant, Reminder
from memlab.core.tenancy import lab_scope
from memlab.journey import reminders, windows
from questionnaires.models import Placement
from tests.studies import enrol, make_study

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Wait:
    """One participant at given hours after consent; every method is one unit of work.

    With ``asks_before`` a survey comes before the conversation of T1."""

    def __init__(self, lab: Lab, *, stages: Any = (), email: str = "p@example.org", **more: Any):
        person, asks_before = more.pop("person", {}), more.pop("asks_before", False)
        given = {"minimum_gap_hours": 24, "window_hours": 48, "finish_hours": 6, **dict(stages)}
        self.lab = lab
        self.study = make_study(lab, stages=given, **more)
        if asks_before:
            with lab_scope(lab.pk):
                Placement.objects.create(
                    study=self.study,
                    stage=self.study.stages.get(key="T1"),
                    moment=Moment.BEFORE,
                    position=1,
                    external_url="https://survey.example.org/",
                )
        self.person = enrol(self.study, wall=START, **person)
        if email:
            with lab_scope(lab.pk):
                identity = Identity(IdentifierKind.EMAIL, email)
                Identifier.objects.all().keep(self.person, identity)

    def follow(self, hours: float) -> list[str]:
        with lab_scope(self.lab.pk):
            person = Participant.objects.get(pk=self.person.pk)
            return [
                str(slot.standing) for slot in windows.follow(person, wall=START + hours * HOUR)
            ]

    def send(self, hours: float) -> list[str]:
        """What became of every reminder that is due now, by its worker."""
        wall = START + hours * HOUR
        with lab_scope(self.lab.pk):
            due = self.person.reminders.filter(due_at__lte=wall).order_by("due_at", "number")
            ids = list(due.values_list("pk", flat=True))
        return [str(reminders.send(self.lab.pk, reminder, wall=wall)) for reminder in ids]

    def rows(self) -> list[tuple[Any, ...]]:
        """(stage, number, state, rule) of every reminder."""
        with lab_scope(self.lab.pk):
            found = Reminder.objects.filter(participant=self.person).order_by("due_at", "number")
            return list(found.values_list("stage_key", "number", "state", "rule"))

    def set(self, **fields: Any) -> None:
        with lab_scope(self.lab.pk):
            Participant.objects.filter(pk=self.person.pk).update(**fields)
