"""The launch checklist, opening, overriding and amending."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from experiments.enums import Outcome, StudyStatus
from experiments.models import (
    Arm,
    AuditEntry,
    CompletionCode,
    Deviation,
    DoorProbe,
    Lab,
    Recruiter,
    Stage,
    Study,
)
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research.launch.checklist import Checklist, checklist
from memlab.research.launch.finding import Finding, State
from memlab.research.launch.opening import LaunchRefused, launch
from tests.people import person
from tests.research.launchable import ready_study
from tests.studies import enrol

KEYS = [
    "protocol",
    "information",
    "consent",
    "safety",
    "answers_talking",
    "answers_extraction",
    "answers_embedding",
    "dated",
    "offline",
    "calibrated",
    "arms_differ",
    "recall_feasible",
    "timetable",
    "instruments",
    "strata",
    "completion_codes",
    "payments",
    "debriefing",
    "mail",
    "zone",
    "target",
]


FALLBACK = {"fallback_provider": "openai_compatible", "fallback_model": "gpt-4o-2024-08-06"}


def looked_at(study: Study) -> Checklist:
    with lab_scope(study.lab_id):
        return checklist(Study.objects.get(pk=study.pk), wall=wall_now())


def found(study: Study, key: str) -> Finding:
    return next(finding for finding in looked_at(study).findings if finding.key == key)


def changed(study: Study, **fields: Any) -> Study:
    with lab_scope(study.lab_id):
        Study.objects.filter(pk=study.pk).update(**fields)
    return study


def opened(study: Study, **given: Any) -> Any:
    with lab_scope(study.lab_id):
        fresh = Study.objects.get(pk=study.pk)
        return launch(fresh, wall=wall_now(), user_id=person("Alice").pk, **given)


def test_a_study_that_lacks_nothing_opens(lab: Lab) -> None:
    study = ready_study(lab)
    result = looked_at(study)
    assert [finding.key for finding in result.findings] == KEYS
    assert [finding.key for finding in result.findings if finding.state is not State.OK] == [
        "instruments",
    ]
    assert result.holding_up == ()
    version = opened(study)
    assert version.overrides == []
    assert (version.number, version.opened_by_id) == (1, person("Alice").pk)
    with lab_scope(lab.pk):
        assert Study.objects.get().status == StudyStatus.OPEN
        assert not Deviation.objects.exists()


@pytest.mark.parametrize(
    ("fields", "key", "state", "overridable"),
    [
        ({"safety_contact_email": ""}, "safety", State.BLOCKING, False),
        ({"hotlines": " "}, "safety", State.BLOCKING, False),
        ({"consent": ""}, "consent", State.BLOCKING, False),
        ({"information": ""}, "information", State.BLOCKING, False),
        ({"information": "You will talk with somebody."}, "information", State.BLOCKING, True),
        ({"information": "你将与人工智能对话。"}, "information", State.OK, True),
        ({"debriefing": ""}, "debriefing", State.BLOCKING, True),
        ({"debriefing_hold": "date"}, "debriefing", State.BLOCKING, False),
        ({"talking_provider": "offline"}, "offline", State.BLOCKING, True),
        ({"talking_model": "qwen-plus"}, "dated", State.BLOCKING, True),
        ({"talking_model": "gpt-4o"}, "dated", State.BLOCKING, True),
        ({"talking_model": "gpt-4o-2024-08-06"}, "dated", State.OK, True),
        ({"talking_model": "deepseek-chat"}, "dated", State.WARNING, True),
        ({"talking_model": "qwen3-32b"}, "dated", State.OK, True),
        ({"talking_model": "qwen-plus-2025-12-01"}, "answers_talking", State.UNKNOWN, True),
        (FALLBACK, "answers_fallback", State.UNKNOWN, True),
        ({**FALLBACK, "fallback_provider": "offline"}, "offline", State.BLOCKING, True),
        ({**FALLBACK, "fallback_model": "gpt-4o"}, "dated", State.BLOCKING, True),
        ({**FALLBACK, "fallback_model": "deepseek-chat"}, "dated", State.WARNING, True),
        (FALLBACK, "dated", State.OK, True),
        ({"time_zone": "UTC"}, "zone", State.WARNING, True),
        ({"time_zone": "Mars/Olympus"}, "zone", State.BLOCKING, False),
        ({"target_size": None}, "target", State.WARNING, True),
        ({"strata": [{"name": "age", "source": "screening:age"}]}, "strata", State.BLOCKING, False),
        ({"relevance": "raw"}, "calibrated", State.OK, True),
        ({"embedding_provider": "dashscope"}, "configuration", State.BLOCKING, False),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    lab: Lab, fields: dict[str, Any], key: str, state: State, overridable: bool
) -> None:
    finding = found(changed(ready_study(lab), **fields), key)
    assert (finding.state, finding.overridable) == (state, overridable)
    if state in (State.BLOCKING, State.UNKNOWN):
        assert finding.remedy


def test_a_webhook_needs_an_address_and_a_secret(lab: Lab) -> None:
    study = ready_study(lab, reminder_channel="webhook", stages={"window_hours": 72})
    assert "webhook" not in [finding.key for finding in looked_at(study).findings]  # no reminders
    with lab_scope(lab.pk):
        study.stages.update(reminder_hours=[0, 24])
    nowhere = found(study, "webhook")
    assert (nowhere.state, nowhere.overridable) == (State.BLOCKING, False)
    changed(study, webhook_url="https://hooks.example.org/memlab?key=abc")
    unsigned = found(again(study), "webhook")
    assert (unsigned.state, unsigned.overridable) == (State.BLOCKING, False)
    assert unsigned.url == f"/admin/experiments/study/{study.pk}/webhook-secret/"
    signed = again(study)
    with lab_scope(lab.pk):
        signed.seal_webhook("s3cret")
        signed.save()
    ready = found(again(study), "webhook")
    assert (ready.state, ready.found) == (State.OK, "Reminders go to hooks.example.org, signed.")


def again(study: Study) -> Study:
    with lab_scope(study.lab_id):
        return Study.objects.get(pk=study.pk)


@pytest.mark.parametrize(
    ("fields", "state", "words"),
    [
        ({"maximum_minutes": 5, "minimum_minutes": 10}, State.BLOCKING, "minimum of minutes"),
        ({"maximum_turns": 2, "minimum_turns": 4}, State.BLOCKING, "minimum of turns"),
        ({"window_hours": 0.1, "minimum_minutes": 10}, State.BLOCKING, "shorter than"),
        ({"reminder_hours": [1.0, 72.0]}, State.WARNING, "after its window: 72 h"),
        ({"payment": "2.50"}, State.BLOCKING, "T1, T2"),
    ],
)
def test_stages_that_contradict_themselves_are_named(
    lab: Lab, fields: dict[str, Any], state: State, words: str
) -> None:
    study = ready_study(lab)
    with lab_scope(lab.pk):
        Stage.objects.filter(study=study).update(**fields)
    finding = found(study, "payments" if "payment" in fields else "timetable")
    assert finding.state is state
    assert words in finding.found


def test_a_study_without_stages_or_arms_never_opens(lab: Lab) -> None:
    study = ready_study(lab)
    with lab_scope(lab.pk):
        Arm.objects.all().delete()
    finding = found(study, "protocol")
    assert (finding.state, finding.overridable) == (State.BLOCKING, False)
    with pytest.raises(LaunchRefused, match="there is no arm"):
        opened(study, overrides={finding.key: "because" for finding in looked_at(study).findings})
    with lab_scope(lab.pk):
        Stage.objects.all().delete()
    assert "no stage" in found(study, "protocol").found


def test_recall_over_the_gaps_must_be_feasible(lab: Lab) -> None:
    study = ready_study(lab, arms={"hybrid": ("hybrid", {"recall_threshold": 0.86})})
    finding = found(study, "recall_feasible")
    assert (finding.state, finding.overridable) == (State.BLOCKING, True)
    assert "A (T2)" in finding.found
    with lab_scope(lab.pk):
        arm = Arm.objects.get()
    assert finding.url == f"/admin/experiments/arm/{arm.pk}/change/"


def test_answers_of_models_grow_old_and_failures_block(lab: Lab) -> None:
    study = ready_study(lab)
    with lab_scope(lab.pk):
        DoorProbe.objects.filter(use="talking").update(at=wall_now() - timedelta(hours=25))
        DoorProbe.objects.filter(use="extraction").update(
            answered=False, failure="authentication: bad key"
        )
    assert found(study, "answers_talking").state is State.UNKNOWN
    failed = found(study, "answers_extraction")
    assert failed.state is State.BLOCKING
    assert "authentication: bad key" in failed.found


def test_what_fails_opens_only_with_a_reason_which_is_kept(lab: Lab) -> None:
    study = ready_study(lab, debriefing="", talking_model="qwen-plus-2026-01-01")
    changed(study, talking_model="qwen-plus-2026-02-02")
    with pytest.raises(LaunchRefused) as refusal:
        opened(study, overrides={"debriefing": "told in person"})
    assert refusal.value.troubles == (
        "Talking model answers: dashscope · qwen-plus-2026-02-02 was never asked.",
    )
    with lab_scope(lab.pk):
        assert Study.objects.get().status == StudyStatus.DRAFT
        assert not AuditEntry.objects.exists()
    version = opened(
        study, overrides={"debriefing": "told in person", "answers_talking": "no network here"}
    )
    assert [(each["check"], each["reason"]) for each in version.overrides] == [
        ("answers_talking", "no network here"),
        ("debriefing", "told in person"),
    ]
    with lab_scope(lab.pk):
        assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == [
            "override_launch",
            "override_launch",
            "open_study",
        ]
        assert [(row.kind, row.details) for row in Deviation.objects.order_by("pk")] == [
            ("overridden", {"check": "answers_talking", "version": 1}),
            ("overridden", {"check": "debriefing", "version": 1}),
        ]


def test_no_reason_opens_a_study_without_a_safety_contact(lab: Lab) -> None:
    study = ready_study(lab, safety_contact_name="")
    with pytest.raises(LaunchRefused, match="no safety contact"):
        opened(study, overrides={"safety": "nothing will happen"})


def test_an_amendment_is_for_new_people_and_says_why(lab: Lab) -> None:
    study = ready_study(lab)
    first = opened(study)
    with lab_scope(lab.pk):
        early = enrol(Study.objects.get())
    changed(study, persona="You are brief.")
    with lab_scope(lab.pk):
        # Until the amendment is opened, the draft is nobody's.
        assert enrol(Study.objects.get()).version == first
    with pytest.raises(LaunchRefused, match="Say why"):
        opened(study)
    second = opened(study, reason="The persona was too chatty.")
    assert (second.number, second.amended_from_id, second.reason) == (
        2,
        first.pk,
        "The persona was too chatty.",
    )
    with pytest.raises(LaunchRefused, match="nothing to amend"):
        opened(study, reason="Again.")
    with lab_scope(lab.pk):
        assert enrol(Study.objects.get()).version == second
        early.refresh_from_db()
        assert early.version == first
        assert [(row.kind, row.details) for row in Deviation.objects.all()] == [
            ("amended", {"version": 2, "amends": 1})
        ]
    # Back to what it was: the first version runs again.
    changed(study, persona="You are a warm companion.")
    third = opened(study, reason="It was right before.")
    assert (third.pk, third.number, third.amended_from_id) == (first.pk, 1, second.pk)
    with lab_scope(lab.pk):
        assert enrol(Study.objects.get()).version == first


def test_a_recruiter_wants_codes_back(lab: Lab) -> None:
    study = ready_study(lab)
    with lab_scope(lab.pk):
        Recruiter.objects.create(study=study)
    assert found(study, "completion_codes").state is State.BLOCKING
    with lab_scope(lab.pk):
        CompletionCode.objects.create(study=study, outcome=Outcome.COMPLETE, code="DONE")
    finding = found(study, "completion_codes")
    assert finding.state is State.WARNING
    assert finding.found == (
        "Prolific sends people, but there is no code for: "
        "Screened out, Declined, Withdrawn, Technical problem."
    )


def test_a_closed_study_stays_closed(lab: Lab) -> None:
    study = ready_study(lab)
    opened(study)
    with lab_scope(lab.pk):
        fresh = Study.objects.get()
        fresh.move_to(StudyStatus.CLOSED)
        for status in (StudyStatus.OPEN, StudyStatus.DRAFT, StudyStatus.PILOTING):
            assert not fresh.may_become(status)
        fresh.move_to(StudyStatus.ARCHIVED)
        assert Study.objects.get().status == StudyStatus.ARCHIVED
