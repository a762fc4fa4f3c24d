"""A lab with a row of every kind, whose every text is a canary."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from chat import conversation
from chat.models import AdverseEvent, Message, ModelScreening, Receipt, Reply, Writing
from chat.safety.enums import Category, Severity, Source
from experiments.enums import (
    AuditAction,
    DeviationKind,
    DoorUse,
    IdentifierKind,
    Lost,
    Moment,
    Outcome,
    RecruiterKind,
    ReminderChannel,
    WithdrawalKind,
    WithdrawnBy,
)
from experiments.models import (
    Allocation,
    AllocationCounter,
    Arm,
    AuditEntry,
    CompletionCode,
    DebriefingView,
    Deviation,
    DoorProbe,
    EntryLink,
    ErasureReceipt,
    Extension,
    Identifier,
    Identity,
    IssuedCode,
    Lab,
    LabCalibration,
    Participant,
    Payment,
    ProviderKey,
    Recruiter,
    Reminder,
    Session,
    StaffMessage,
    Study,
    Tombstone,
    WindowMark,
    Withdrawal,
)
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind
from memlab.core.ledger import Job, JobKind, JobState
from memlab.core.tenancy import lab_scope
from memory.enums import Bin, ProfilePart, RunPart, SleepTrigger
from memory.models import (
    Belief,
    BinnedItem,
    Compressible,
    ConsolidationRun,
    Episode,
    LoggedTurn,
    MemoryEvent,
    RegulatedState,
    RetainedItem,
    SessionLog,
    SleepRun,
    Trait,
)
from questionnaires.content import InstrumentContent, ItemContent, Text
from questionnaires.enums import ItemType, ResponseState
from questionnaires.models import Answer, Instrument, Placement, Response, Score
from questionnaires.models.response import response_id
from tests.studies import enrol, enter, make_study

DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class FilledLab:
    """``canary`` is in every text of the lab; ``evidence`` only where an arm shows."""

    lab: Lab
    canary: str
    evidence: str
    secret: str
    study: Study
    participant: Participant
    session: Session

    @property
    def arm_words(self) -> list[str]:
        """What names an arm, and what only exists because of one."""
        return [f"{self.canary.lower()}-arm", f"{self.canary}-label"[:20], self.evidence, "hybrid"]


def fill(lab: Lab, canary: str) -> FilledLab:
    """Give ``lab`` one row of each kind."""
    evidence, secret = f"{canary}-EVIDENCE", f"sk-{canary}-SECRET-0123456789"
    with lab_scope(lab.pk):
        Lab.objects.filter(pk=lab.pk).update(name=f"{canary} lab")
    study = make_study(
        lab,
        title=f"{canary} study",
        assistant_name=f"{canary} name",
        persona=f"{canary} persona",
        information=f"{canary} information",
        consent=f"{canary} consent",
        arms={f"{canary.lower()}-arm": "hybrid"},
        stages={
            "title": f"{canary} stage",
            "briefing": f"{canary} briefing",
            "instructions": f"{canary} instructions",
            "opening_line": f"{canary} opening",
            "topics": [f"{canary} topic"],
        },
    )
    with lab_scope(lab.pk):
        Arm.objects.filter(study=study).update(label=f"{canary}-label"[:20])
        key = ProviderKey(label=f"{canary} key", provider="dashscope")
        key.seal(secret)
        key.save()
        LabCalibration.objects.create(
            embedder=f"{canary} embedder", language="en", form="query_passage", low=0.1, high=0.9
        )
        study.open()
        DoorProbe.objects.create(
            study=study,
            use=DoorUse.TALKING,
            provider="dashscope",
            model=f"{canary} model",
            answered=False,
            failure=f"{canary} failure",
            milliseconds=1.0,
            at=wall_now(),
        )
    participant = enrol(study, arm=f"{canary.lower()}-arm")
    _recruit(participant, canary)
    session = enter(participant)
    _talk(participant, session, canary, evidence)
    _conclude(participant, session, canary)
    _ask(participant, session, canary)
    _remember(participant, session, evidence)
    _pass_time(participant, canary)
    return FilledLab(
        lab=lab,
        canary=canary,
        evidence=evidence,
        secret=secret,
        study=study,
        participant=participant,
        session=session,
    )


def _recruit(participant: Participant, canary: str) -> None:
    with lab_scope(participant.lab_id):
        Recruiter.objects.create(
            study=participant.study,
            kind=RecruiterKind.OTHER,
            name=f"{canary} recruiter",
            expected_study=f"{canary}-study",
        )
        EntryLink.objects.issue(
            lab_id=participant.lab_id,
            study_id=participant.study_id,
            label=f"{canary} link",
            participant=participant,
        )
        identity = Identity(IdentifierKind.EMAIL, f"{canary}@sealed.example")
        Identifier.objects.keep(participant, identity)
        Tombstone.objects.lay(participant)


def _pass_time(participant: Participant, canary: str) -> None:
    """A stage that was missed, extended, and reminded of."""
    key = f"{canary}-stage"[:20]
    with lab_scope(participant.lab_id):
        WindowMark.objects.create(
            participant=participant, stage_key=key, lost=Lost.MISSED, at=wall_now()
        )
        Extension.objects.create(
            participant=participant, stage_key=key, until=wall_now() + DAY, reason=canary
        )
        Reminder.objects.create(
            participant=participant,
            stage_key=key,
            number=0,
            channel=ReminderChannel.EMAIL,
            due_at=wall_now(),
            failure=canary,
        )


def _talk(participant: Participant, session: Session, canary: str, evidence: str) -> None:
    reference = conversation.SessionRef(
        lab_id=participant.lab_id, participant=participant.public_id, session=session.pk
    )
    said = conversation.say(reference, client_id=uuid4(), text=f"{canary} said", wall=wall_now())
    failed = conversation.say(
        reference, client_id=uuid4(), text=f"{canary} said twice", wall=wall_now()
    )
    reading = {
        "kind": "episode",
        "id": str(uuid4()),
        "text": evidence,
        "recalled": True,
        "reason": "recalled",
        "relevance": 0.8,
        "elapsed_days": 2.0,
        "probability": 0.6,
        "score": None,
        "threshold": 0.45,
        "message_ids": [],
        "stage": "T1",
    }
    with lab_scope(participant.lab_id):
        Message.objects.filter(pk=said.reply).update(text=f"{canary} answered")
        reply = Reply.objects.get(pk=said.reply)
        reply.succeed()
        Reply.objects.get(pk=failed.reply).fail(
            "timeout", detail=evidence, partial=evidence, retryable=True
        )
        Receipt.objects.create(
            reply=reply,
            attempt=1,
            architecture="hybrid",
            prompt={"system": evidence, "messages": [{"role": "user", "content": evidence}]},
            sections=[{"key": "episodes", "title": evidence, "lines": [evidence]}],
            recalled=[reading],
            near_misses=[reading],
            degraded=[evidence],
            provider="offline",
            model=evidence,
            fallback_after="timeout",
            request_id=evidence,
            finish_reason="stop",
            prompt_tokens=987654,
            completion_tokens=12,
            rounds=2,
            tools=[
                {
                    "round": 1,
                    "name": "save_memory",
                    "arguments": evidence,
                    "result": evidence,
                    "refused": True,
                }
            ],
            timings={"recall": 3.5, "tools": 2.5},
        )
        Session.objects.filter(pk=session.pk).update(degraded=[evidence])
        message = Message.objects.get(
            session=session, client_id__isnull=False, text=f"{canary} said"
        )
        ModelScreening.objects.create(message=message, failure="no_json")
        Writing.objects.create(
            message=message, typing_ms=900, pastes=1, pasted_characters=5, departures=0, away_ms=0
        )
        AdverseEvent.objects.create(
            participant=participant,
            session=session,
            message=message,
            source=Source.RULE,
            category=Category.SELF_HARM,
            severity=Severity.CONCERN,
            rule=f"{canary} rule",
            note=f"{canary} note",
            occurred_at=message.at,
            recorded_at=message.recorded_at,
        )


def _conclude(participant: Participant, session: Session, canary: str) -> None:
    now = wall_now()
    with lab_scope(participant.lab_id):
        CompletionCode.objects.create(
            study=participant.study, outcome="technical", code=f"{canary} code"
        )
        IssuedCode.objects.shown(participant, Outcome.TECHNICAL, code=f"{canary} code", wall=now)
        Payment.objects.create(
            study=participant.study,
            participant=participant,
            code=participant.code,
            stage_key=session.stage_key,
            amount=5,
            reason=f"{canary} reason",
            earned_at=now,
        )
        StaffMessage.objects.post(participant, f"{canary} asked", client_id=uuid4())
        DebriefingView.objects.record(participant, now=now)


def _ask(participant: Participant, session: Session, canary: str) -> None:
    """An instrument that the study asks, and this participant's answers to it."""
    now = wall_now()
    with lab_scope(participant.lab_id):
        instrument = Instrument.objects.store(
            InstrumentContent(
                key=canary.lower(),
                title=Text(en=f"{canary} title"),
                citation=f"{canary} citation",
                items=(
                    ItemContent(
                        code=f"{canary}_1",
                        type=ItemType.TEXT,
                        text=Text(en=f"{canary} item"),
                    ),
                ),
            )
        )
        instrument.note_licence(f"{canary} licence")
        Placement.objects.create(
            study=participant.study, moment=Moment.SCREENING, instrument=instrument
        )
        response = Response.objects.create(
            id=response_id(participant.public_id, "after:t1:9"),
            participant=participant,
            version=instrument.publish(),
            moment=Moment.AFTER,
            stage_key=session.stage_key,
            position=9,
            state=ResponseState.COMPLETE,
            seed="seed",
            started_at=now,
            completed_at=now,
            attention_failures=0,
        )
        Answer.objects.create(
            response=response,
            item=f"{canary}_1",
            raw=f"{canary} answer",
            page=1,
            shown_position=1,
            answered_at=now,
        )
        Score.objects.create(
            response=response, subscale=f"{canary}_scale", value=4.5, answered=1, items=1
        )


def _remember(participant: Participant, session: Session, evidence: str) -> None:
    now = wall_now()
    of_session = {
        "participant": participant,
        "session_id": session.pk,
        "session_number": session.number,
    }
    with lab_scope(participant.lab_id):
        version = participant.version
        assert version is not None
        AllocationCounter.objects.create(version=version, stratum=evidence, used=1)
        Allocation.objects.filter(participant=participant).update(stratum=evidence)
        episode = Episode.objects.create(
            id=uuid4(),
            **of_session,
            recallable_until=now + DAY,
            anchor=now,
            g=20.0,
            salience=0.5,
            encoded_at=now,
            importance=0.5,
            intensity=0.5,
            self_disclosure=0.5,
            value_relevance=0.5,
            ends_with=uuid4(),
            embedder="scripted",
            vector=[1.0, 0.0],
            text=evidence,
            message_ids=[uuid4()],
            stage_key="T1",
            form="in_context",
        )
        RetainedItem.objects.create(
            id=uuid4(),
            **of_session,
            importance=0.5,
            anchor=now,
            anchor_turn=1,
            archive_at=now + DAY,
            encoded_at=now,
            embedder="scripted",
            vector=[1.0, 0.0],
            text=evidence,
            keywords=[evidence],
            message_ids=[uuid4()],
            stage_key="T1",
        )
        Trait.objects.create(
            id=uuid4(),
            **of_session,
            dimension=ProfilePart.PREFERENCES,
            text=evidence,
            normalised=evidence.lower(),
            salience=0.5,
            stage_key="T1",
            message_ids=[uuid4()],
            learned_at=now,
        )
        Belief.objects.create(
            id=uuid4(),
            **of_session,
            content=evidence,
            category="preference",
            factual=False,
            stage_key="T1",
            message_ids=[uuid4()],
            formed_at=now,
            position=0,
            changed_at=now,
        )
        SessionLog.objects.create(
            id=uuid4(),
            **of_session,
            text=evidence,
            stage_key="T1",
            message_ids=[uuid4()],
            at=now,
        )
        Compressible.objects.create(
            id=uuid4(),
            **of_session,
            activated_at=now,
            weighed_at=now,
            encoded_at=now,
            embedder="scripted",
            vector=[1.0, 0.0],
            text=evidence,
            topic=evidence[:40],
            tags=[f"#canary:{evidence}"],
            words=[evidence],
            message_ids=[uuid4()],
            stage_key="T1",
            language="en",
        )
        state = {"h_social": 0.5, "h_energy": 1.0, "da": 0.5, "ne": 0.3, "ht": 0.6}
        BinnedItem.objects.create(
            id=uuid4(),
            **of_session,
            **state,
            at=now,
            importance=0.5,
            rpe=0.5,
            log_id=uuid4(),
            bin=Bin.FACT,
            embedder="scripted",
            vector=[1.0, 0.0],
            text=evidence,
            normalised=evidence.lower(),
            words=[evidence],
            message_ids=[uuid4()],
            stage_key="T1",
        )
        LoggedTurn.objects.create(
            id=uuid4(),
            **of_session,
            **state,
            at=now,
            stage_key="T1",
            message_ids=[uuid4(), uuid4()],
            said=evidence,
            answered=evidence,
            valence=0.0,
            offensiveness=0.0,
            boundary=False,
            events=[evidence],
            rpe_reward=0.0,
            rpe_threat=0.0,
            behaviour={evidence: 0.5},
            retrieval=True,
            retrieved=[evidence],
            token_out=12,
        )
        RegulatedState.objects.create(id=uuid4(), participant=participant, **state, anchor=now)
        SleepRun.objects.create(
            id=uuid4(),
            participant=participant,
            at=now,
            trigger=SleepTrigger.NIGHT,
            turns=1,
            kept=1,
            high_impact_seconds=0.0,
            mu_reward=0.0,
            mu_threat=0.0,
        )
        MemoryEvent.objects.record([episode.encoding_event(now)])
        ConsolidationRun.objects.create(
            participant=participant,
            subject=session.pk,
            part=RunPart.EPISODES,
            written={evidence: 1},
            study_at=now,
        )
        Deviation.objects.record(
            DeviationKind.MEMORY_EDITED,
            study=participant.study_id,
            participant=participant,
            memory=evidence,
        )
        Deviation.objects.record(
            DeviationKind.WINDOW_EXTENDED,
            study=participant.study_id,
            participant=participant,
            session=session,
            hours=24,
        )
        AuditEntry.objects.record(AuditAction.CHANGE, target=participant.study, reason=evidence)
        canary = evidence.removesuffix("-EVIDENCE")
        Withdrawal.objects.create(
            participant=participant,
            kind=WithdrawalKind.CHAT,
            requested_by=WithdrawnBy.PARTICIPANT,
            reason=f"{canary} reason",
            requested_at=now,
            requested_wall=now,
            parts={evidence: 1},
        )
        ErasureReceipt.objects.create(
            kind=WithdrawalKind.ERASE,
            code_hash=f"{canary} code",
            at=now,
            counts={evidence: 1},
            sha256=f"{canary} hash",
        )
        job = Job.objects.enqueue(
            lab_id=participant.lab_id,
            kind=JobKind.CONSOLIDATE,
            participant=participant.public_id,
            subject=session.pk,
            study_at=now,
        )
        Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, failure=evidence, attempts=6)
        Due.objects.plan(
            lab_id=participant.lab_id,
            kind=DueKind.STEPS,
            subject=participant.public_id,
            study_at=None,
            wall_at=now,
        )
