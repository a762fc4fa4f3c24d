"""`manage.py consolidate`."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from chat import sessions
from experiments.enums import Closed
from experiments.models import Lab, Session
from memlab.core.clock import wall_now
from memlab.core.ledger import Job, JobState
from memlab.core.tenancy import lab_scope
from tests.studies import enrol, enter, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def finished(lab: Lab, arm: str | None):
    """The id of a study and its one participant, with one finished, empty session."""
    study = make_study(lab)
    participant = enrol(study, arm=arm, wall=wall_now() - timedelta(days=1))
    session = enter(participant)
    with lab_scope(lab.pk):
        locked = Session.objects.select_for_update().get(pk=session.pk)
        sessions.close(locked, Closed.STAFF, at=wall_now())
    return str(study.public_id), participant


def consolidate(*arguments: str) -> str:
    out = StringIO()
    call_command("consolidate", *arguments, stdout=out)
    return out.getvalue()


def test_it_runs_what_is_pending_and_what_was_given_up(lab: Lab) -> None:
    study, participant = finished(lab, "gist")
    Job.objects.update(state=JobState.FAILED, attempts=6)
    report = consolidate(study)
    assert report == f"1/1 {participant.code}: 1 done, 0 left\n1 steps done.\n"
    assert Job.objects.get().state == JobState.DONE
    assert "0 done, 0 left" in consolidate(study)


def test_what_is_not_there_is_named(lab: Lab) -> None:
    study, participant = finished(lab, None)
    with pytest.raises(CommandError, match="is no study id"):
        consolidate("my study")
    with pytest.raises(CommandError, match="There is no study"):
        consolidate(str(uuid4()))
    with pytest.raises(CommandError, match="with an arm is in this study"):
        consolidate(study, "--participant", participant.code)
