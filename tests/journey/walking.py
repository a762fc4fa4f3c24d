"""A participant on their way, with a script for a clock and a browser of their own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from chat import sessions
from experiments.access import remember
from experiments.enums import Closed, Moment
from experiments.models import Lab, Participant, Session, Stage, Study
from memlab.core.tenancy import lab_scope
from memlab.journey import stages, way
from questionnaires.models import Placement, Response
from tests.studies import make_study, reference_of, scripted

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def make_way(lab: Lab, *, asks: tuple[tuple[Moment, str], ...] = (), **fields: Any) -> Study:
    """A study of T1 and T2, a day apart, each open for two days. ``asks`` places a questionnaire at
    a moment of a stage ("" for none)."""
    of_stages = {"window_hours": 48, "finish_hours": 6, **fields.pop("stages", {})}
    study = make_study(lab, currency="EUR", stages=of_stages, **fields)
    with lab_scope(lab.pk):
        for position, (moment, key) in enumerate(asks, start=1):
            Placement.objects.create(
                study=study,
                moment=moment,
                stage=Stage.objects.get(study=study, key=key) if key else None,
                position=position,
                external_url="https://survey.example/s",
            )
    return study


class Walker:
    """Moves through a study by the functions that the pages call, and looks at the pages too."""

    def __init__(self, study: Study, **fields: Any) -> None:
        self.study, self.lab_id = study, study.lab_id
        self.participant = scripted(study, start=START)
        if fields:
            with lab_scope(self.lab_id):
                Participant.objects.filter(pk=self.participant.pk).update(**fields)
                self.participant.refresh_from_db()
        self.client = browser_of(self.participant)

    @property
    def now(self) -> datetime:
        return self.participant.study_time(START)

    def at(self, since_start: timedelta) -> None:
        with lab_scope(self.lab_id):
            self.participant.refresh_from_db()
            self.participant.move_script(START + since_start)

    def next_page(self) -> str:
        with lab_scope(self.lab_id):
            return way.next_page(self.participant, wall=START)

    def talk(self, stage: str) -> Session:
        """Enter a stage's conversation and finish it."""
        with lab_scope(self.lab_id):
            session = sessions.enter_stage(self.participant, stage, wall=START).session
            sessions.close(session, Closed.PARTICIPANT, at=self.now)
            return Session.objects.get(pk=session.pk)

    def complete(self, stage: str) -> bool:
        """Talk, and whatever the server still finds missing of the stage stays missing."""
        session = self.talk(stage)
        with lab_scope(self.lab_id):
            return stages.complete_stage(session, wall=START)

    def follow(self) -> None:
        with lab_scope(self.lab_id):
            stages.follow(self.participant, wall=START)

    def answer(self) -> int:
        """Answer every questionnaire that is open; how many."""
        with lab_scope(self.lab_id):
            return answered(self.participant, at=self.now)

    def state(self) -> str:
        with lab_scope(self.lab_id):
            self.participant.refresh_from_db()
            return self.participant.state

    def session_states(self) -> list[tuple[str, str]]:
        with lab_scope(self.lab_id):
            rows = Session.objects.filter(participant=self.participant).order_by("number")
            return list(rows.values_list("stage_key", "state"))

    def page(self, name: str, *args: Any) -> tuple[int, str]:
        response = self.client.get(reverse(f"journey:{name}", args=args))
        told = response.headers.get("Location", "") or response.content.decode()
        return response.status_code, told


def answered(participant: Participant, *, at: datetime) -> int:
    rows = Response.objects.filter(participant=participant, state="open")
    return int(rows.update(state="complete", completed_at=at))


def browser_of(participant: Participant) -> Client:
    """A browser that is known as the participant."""
    client, response = Client(), HttpResponse()
    remember(response, reference_of(participant))
    client.cookies = response.cookies
    return client
