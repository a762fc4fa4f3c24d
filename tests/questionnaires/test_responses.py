"""Answers are stored page by page: once, in time, and by whoever may answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from experiments.enums import Moment, ParticipantState
from experiments.models import Lab, Participant
from experiments.rules import PlacementConfiguration
from memlab.core.tenancy import lab_scope
from questionnaires import responses
from questionnaires.enums import Missing, ResponseState
from questionnaires.models import Answer, Response, Score
from questionnaires.responses import NotNow, Overtaken, Saved
from questionnaires.validation import InvalidAnswers
from tests.questionnaires.asked import PETS, ask, asked
from tests.studies import enrol, make_study, scripted

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FIRST = {"like_1": 6, "like_2": 2, "check": 2}


def opened(participant: Participant) -> Response:
    with lab_scope(participant.lab_id):
        response = responses.next_open(participant, Moment.AFTER, "T1", wall=NOON)
    assert response is not None
    return response


def save(participant: Participant, response: Response, **sent: Any) -> Saved:
    with lab_scope(participant.lab_id):
        return responses.save_page(
            participant, response.pk, **{"seconds": 10.0, "wall": NOON, **sent}
        )


def rows(response: Response) -> dict[str, tuple[Any, ...]]:
    with lab_scope(response.lab_id):
        return {
            answer.item: (answer.raw, answer.value, answer.scored, answer.missing)
            for answer in Answer.objects.filter(response=response)
        }


@pytest.fixture
def participant(lab: Lab) -> Participant:
    return asked(make_study(lab), PETS)


def test_questionnaire_is_opened_once(participant: Participant) -> None:
    assert opened(participant) == opened(participant)
    assert opened(participant).state == ResponseState.OPEN


def test_pages_are_stored_and_the_last_one_completes(participant: Participant) -> None:
    response = opened(participant)
    assert save(participant, response, page=1, revision=0, answers=FIRST) == Saved(2, 1)
    assert save(participant, response, page=2, revision=1, answers={"pet": 1}) == Saved(None, 2)
    assert rows(response) == {
        "like_1": (6, 6.0, 6.0, ""),
        "like_2": (2, 2.0, 6.0, ""),
        "check": (2, 2.0, 2.0, ""),
        "pet": (1, 1.0, 1.0, ""),
        "why": (None, None, None, Missing.SKIPPED),
        "name": (None, None, None, Missing.NOT_SHOWN),
    }
    with lab_scope(participant.lab_id):
        response.refresh_from_db()
        assert (response.state, response.attention_failures) == (ResponseState.COMPLETE, 0)
        assert list(Score.objects.values_list("subscale", "value", "answered", "items")) == [
            ("liking", 6.0, 2, 2)
        ]
        assert responses.is_complete(participant, Moment.AFTER, "T1")
        assert responses.next_open(participant, Moment.AFTER, "T1", wall=NOON) is None


def test_what_was_shown_where_and_how_long_is_kept(participant: Participant) -> None:
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST, seconds=12.5)
    with lab_scope(participant.lab_id):
        kept = Answer.objects.values_list("item", "shown_position", "page", "page_seconds")
        assert list(kept) == [("like_1", 1, 1, 12.5), ("like_2", 2, 1, 12.5), ("check", 3, 1, 12.5)]


def test_same_page_sent_twice_changes_nothing(participant: Participant) -> None:
    """The answer to the first was lost on its way: a new attempt gets it again."""
    response = opened(participant)
    first = save(participant, response, page=1, revision=0, answers=FIRST)
    again = save(participant, response, page=1, revision=0, answers=FIRST)
    assert (first, again) == (Saved(2, 1), Saved(2, 1))
    with lab_scope(participant.lab_id):
        assert set(Answer.objects.values_list("page_seconds", flat=True)) == {10.0}


def test_last_page_sent_twice_completes_once(participant: Participant) -> None:
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST)
    last = {"page": 2, "revision": 1, "answers": {"pet": 1}}
    assert save(participant, response, **last) == Saved(None, 2)
    assert save(participant, response, **last) == Saved(None, 2)
    with lab_scope(participant.lab_id):
        assert Score.objects.count() == 1


def test_stale_tab_is_refused_and_overwrites_nothing(participant: Participant) -> None:
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST)
    with pytest.raises(Overtaken):
        save(participant, response, page=1, revision=0, answers={**FIRST, "like_1": 1})
    assert rows(response)["like_1"] == (6, 6.0, 6.0, "")


def test_earlier_page_can_be_changed_until_the_end(participant: Participant) -> None:
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST)
    changed = {**FIRST, "like_1": 1}
    assert save(participant, response, page=1, revision=1, answers=changed) == Saved(2, 2)
    assert rows(response)["like_1"] == (1, 1.0, 1.0, "")
    with lab_scope(participant.lab_id):
        assert set(Answer.objects.values_list("page_seconds", flat=True)) == {20.0}
    save(participant, response, page=2, revision=2, answers={"pet": 1})
    with pytest.raises(Overtaken):
        save(participant, response, page=1, revision=3, answers=FIRST)


def test_page_cannot_be_jumped_over(participant: Participant) -> None:
    response = opened(participant)
    with pytest.raises(InvalidAnswers) as refusal:
        save(participant, response, page=2, revision=0, answers={"pet": 1})
    assert sorted(refusal.value.errors) == ["check", "like_1", "like_2"]
    assert rows(response) == {}


def test_condition_brings_up_a_page_and_takes_it_away(participant: Participant) -> None:
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST)
    assert save(participant, response, page=2, revision=1, answers={"pet": 3}) == Saved(3, 2)
    with pytest.raises(InvalidAnswers) as refusal:
        save(participant, response, page=3, revision=2, answers={"name": "  "})
    assert refusal.value.errors == {"name": "Please answer this question."}
    save(participant, response, page=2, revision=2, answers={"pet": 1})
    assert rows(response)["name"] == (None, None, None, Missing.NOT_SHOWN)


def test_answer_that_was_hidden_later_counts_no_more(lab: Lab) -> None:
    from dataclasses import replace

    last = replace(PETS.items[-1], code="last", condition=None, page=4)
    participant = asked(make_study(lab), replace(PETS, items=(*PETS.items, last)))
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST)
    save(participant, response, page=2, revision=1, answers={"pet": 2})
    save(participant, response, page=3, revision=2, answers={"name": "Mo"})
    assert save(participant, response, page=2, revision=3, answers={"pet": 1}) == Saved(4, 4)
    save(participant, response, page=4, revision=4, answers={"last": "x"})
    assert rows(response)["name"] == (None, None, None, Missing.NOT_SHOWN)


def test_death_before_the_commit_leaves_nothing(participant: Participant) -> None:
    class Died(Exception):
        pass

    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST)
    last: dict[str, Any] = {"page": 2, "revision": 1, "answers": {"pet": 1}}

    def save_and_die() -> None:
        with lab_scope(participant.lab_id):
            responses.save_page(participant, response.pk, seconds=1.0, wall=NOON, **last)
            raise Died

    with pytest.raises(Died):
        save_and_die()
    with lab_scope(participant.lab_id):
        response.refresh_from_db()
        assert (response.state, response.revision) == (ResponseState.OPEN, 1)
        assert not Score.objects.exists()
    assert "pet" not in rows(response)
    assert save(participant, response, **last) == Saved(None, 2)


@pytest.mark.parametrize(
    "state", [state for state in ParticipantState if state != ParticipantState.ACTIVE]
)
def test_only_who_takes_part_can_answer(participant: Participant, state: ParticipantState) -> None:
    response = opened(participant)
    with lab_scope(participant.lab_id):
        Participant.objects.filter(pk=participant.pk).update(state=state)
    with pytest.raises(NotNow):
        save(participant, response, page=1, revision=0, answers=FIRST)
    assert rows(response) == {}


def test_nobody_answers_while_paused(participant: Participant) -> None:
    response = opened(participant)
    with lab_scope(participant.lab_id):
        Participant.objects.filter(pk=participant.pk).update(paused_at=NOON)
    with pytest.raises(NotNow):
        save(participant, response, page=1, revision=0, answers=FIRST)


def test_debriefing_is_answered_after_the_end(lab: Lab) -> None:
    study = make_study(lab)
    ask(study, PETS, moment=Moment.DEBRIEFING, stage="")
    participant = enrol(study)
    with lab_scope(lab.pk):
        Participant.objects.filter(pk=participant.pk).update(state=ParticipantState.DROPPED_OUT)
        response = responses.next_open(participant, Moment.DEBRIEFING, wall=NOON)
    assert response is not None
    assert save(participant, response, page=1, revision=0, answers=FIRST) == Saved(2, 1)


@pytest.mark.parametrize(("began", "hours"), [(True, 54), (False, 48)])
def test_nothing_is_taken_once_the_stage_is_over_whoever_has_noticed_it(
    lab: Lab, began: bool, hours: int
) -> None:
    study = make_study(lab, stages={"minimum_gap_hours": 0, "window_hours": 48, "finish_hours": 6})
    ask(study, PETS, moment=Moment.BEFORE)
    participant = scripted(study, start=NOON)
    with lab_scope(lab.pk):
        response = responses.next_open(participant, Moment.BEFORE, "T1", wall=NOON)
    assert response is not None
    page, revision, answers = 1, 0, FIRST
    if began:
        save(participant, response, page=1, revision=0, answers=FIRST)
        page, revision, answers = 2, 1, {"pet": 1}
    end = NOON + timedelta(hours=hours)

    def send(at: datetime) -> Saved:
        with lab_scope(lab.pk):
            Participant.objects.filter(pk=participant.pk).update(scripted_now=at)
        return save(participant, response, page=page, revision=revision, answers=answers)

    with pytest.raises(NotNow, match="time for these questions is over"):
        send(end)
    with lab_scope(lab.pk):
        response.refresh_from_db()
        assert (response.state, response.revision) == (ResponseState.OPEN, revision)
    assert send(end - timedelta(minutes=1)).revision == revision + 1


def test_expiry_closes_what_is_unfinished_and_says_why(participant: Participant) -> None:
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers=FIRST)
    late = NOON + timedelta(days=3)
    with lab_scope(participant.lab_id):
        responses.expire(participant, "T1", now=late)
        responses.expire(participant, "T1", now=late + timedelta(days=1))
        response.refresh_from_db()
        assert (response.state, response.completed_at) == (ResponseState.EXPIRED, late)
        assert not Score.objects.exists()
        assert not responses.is_complete(participant, Moment.AFTER, "T1")
        assert responses.next_open(participant, Moment.AFTER, "T1", wall=late) is None
    assert {code: row[3] for code, row in rows(response).items()} == {
        "like_1": "",
        "like_2": "",
        "check": "",
        "pet": Missing.TIMED_OUT,
        "why": Missing.TIMED_OUT,
        "name": Missing.NOT_SHOWN,
    }
    with pytest.raises(NotNow):
        save(participant, response, page=2, revision=1, answers={"pet": 1})


def test_failed_attention_check_is_counted(participant: Participant) -> None:
    response = opened(participant)
    save(participant, response, page=1, revision=0, answers={**FIRST, "check": 7})
    save(participant, response, page=2, revision=1, answers={"pet": 1})
    with lab_scope(participant.lab_id):
        response.refresh_from_db()
    assert response.attention_failures == 1


def test_random_half_is_about_a_half_of_everybody_and_another_at_every_place(lab: Lab) -> None:
    study = make_study(lab)
    places = [
        PlacementConfiguration(moment=Moment.AFTER, stage=stage, position=1, half=True)
        for stage in ("T1", "T2")
    ]
    everybody = [Participant(study=study, public_id=UUID(int=number)) for number in range(200)]
    first, second = ([responses.is_asked(each, place) for each in everybody] for place in places)
    assert first == [responses.is_asked(each, places[0]) for each in everybody]
    assert 70 < sum(first) < 130
    assert 70 < sum(left is right for left, right in zip(first, second, strict=True)) < 130


def test_other_half_is_never_asked(lab: Lab) -> None:
    study = make_study(lab)
    ask(study, PETS, half=True)
    everybody = [enrol(study) for _ in range(6)]
    with lab_scope(lab.pk):
        for each in everybody:
            asked_here = responses.next_open(each, Moment.AFTER, "T1", wall=NOON) is not None
            assert asked_here is not responses.is_complete(each, Moment.AFTER, "T1")
            assert asked_here is Response.objects.filter(participant=each).exists()


def test_questionnaires_of_a_moment_come_in_their_order(lab: Lab) -> None:
    from dataclasses import replace

    participant = asked(make_study(lab), PETS, replace(PETS, key="more"))
    first = opened(participant)
    save(participant, first, page=1, revision=0, answers=FIRST)
    assert opened(participant) == first
    save(participant, first, page=2, revision=1, answers={"pet": 1})
    second = opened(participant)
    assert (first.position, second.position) == (1, 2)
    with lab_scope(participant.lab_id):
        assert responses.place_among(participant, second) == (2, 2)
