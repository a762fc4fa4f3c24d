"""What becomes of a turn, and of its memory, when a provider fails: the real SDKs, a loopback
stand-in, and every fault a provider may have, from the socket to the rows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from chat import steps, streaming
from chat.makers import makers
from chat.models import AdverseEvent, Message, Receipt, Reply
from experiments.doors import DoorKeeper
from experiments.models import Deviation, Lab, Participant, ProviderKey, Session, Study
from memlab.core.ledger import Job
from memlab.core.tenancy import lab_scope
from memlab.core.work import unit
from memory.models import ConsolidationRun, Episode, MemoryEvent, Trait
from tests.chat.sockets import Tab
from tests.standin import Answer, Fault, StandIn
from tests.studies import enrol, enter, make_study

PROVIDERS = ("openai_compatible", "dashscope")
ANYTIME = {"minimum_gap_hours": 0}
# Alone, and easily recalled: the same words again are the same vector.
REMEMBERING = {
    "hybrid": ("hybrid", {"initial_g": 20.0, "recall_threshold": 0.2, "encoding": "message"})
}


@pytest.fixture(autouse=True)
def _quick(kept_rows: None, standin: StandIn, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ALLOWED_MODEL_URLS = [standin.openai_url, standin.dashscope_url]
    settings.MODEL_TIMEOUTS = {"connect": 2.0, "first_token": 0.5, "between_tokens": 0.5}
    monkeypatch.setattr(streaming, "FIRST_PAUSE", 0.01)


@pytest.fixture(autouse=True)
async def _shut_doors() -> AsyncIterator[None]:
    yield
    await makers().aclose()


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


def key_to(standin: StandIn, lab: Lab, provider: str) -> ProviderKey:
    url = standin.openai_url if provider == "openai_compatible" else standin.dashscope_url
    with lab_scope(lab.pk):
        key = ProviderKey(label=provider, provider=provider, base_url=url)
        key.seal("sk-loopback-0123456789")
        key.save()
        return key


def study_with(standin: StandIn, lab: Lab, *uses: str, provider: str, **fields: Any) -> Study:
    """A study whose ``uses`` (talking, extraction, embedding) go to the stand-in."""
    key = key_to(standin, lab, provider)
    models = {"talking": "talk-2026", "extraction": "extract-2026", "embedding": "embed@768"}
    doors = {
        f"{use}_{name}": value
        for use in uses
        for name, value in (("provider", provider), ("model", models[use]), ("key", key))
    }
    return make_study(lab, arms=REMEMBERING, stages=ANYTIME, **doors, **fields)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fault and what it must end in. ``requests`` is how often the provider was asked."""

    answers: list[Answer]
    failure: str = ""  # empty: the reply is done
    partial: bool = False
    retryable: bool = True
    requests: int = 1


def times(number: int, **fault: Any) -> list[Answer]:
    return [Answer(**fault) for _ in range(number)]


CASES: dict[str, Case] = {
    "429 then well": Case(answers=times(1, fault=Fault.STATUS, status=429, code="rate_limit"),
                          requests=2),
    "503 then well": Case(answers=times(1, fault=Fault.STATUS, status=503), requests=2),
    "429 for ever": Case(answers=times(3, fault=Fault.STATUS, status=429, code="rate_limit"),
                         failure="rate_limit", requests=3),
    "500 for ever": Case(answers=times(3, fault=Fault.STATUS, status=500, code="oops"),
                         failure="unavailable", requests=3),
    "401": Case(answers=times(1, fault=Fault.STATUS, status=401, code="invalid_api_key"),
                failure="authentication"),
    "hang before headers": Case(answers=times(3, fault=Fault.HANG_BEFORE_HEADERS),
                                failure="timeout", requests=3),
    "hang before the first token": Case(answers=times(3, fault=Fault.HANG_BEFORE_FIRST_TOKEN),
                                        failure="timeout", requests=3),
    "hang between tokens": Case(answers=times(1, fault=Fault.HANG_BETWEEN_TOKENS),
                                failure="timeout", partial=True),
    "connection cut before headers": Case(answers=times(3, fault=Fault.CUT_BEFORE_HEADERS),
                                          failure="unavailable", requests=3),
    "stream cut": Case(answers=times(1, fault=Fault.CUT), failure="cut_stream", partial=True),
    "error inside a 200 stream": Case(answers=times(1, fault=Fault.ERROR_IN_STREAM),
                                      failure="unavailable", partial=True),
    "content filter": Case(
        answers=times(1, fault=Fault.CONTENT_FILTER), failure="content_filter", retryable=False),
    "content filter in the stream": Case(
        answers=times(1, fault=Fault.CONTENT_FILTER_IN_STREAM), failure="content_filter",
        partial=True, retryable=False),
    "truncated": Case(answers=times(1, fault=Fault.TRUNCATED), failure="truncated", partial=True),
    "malformed chunk": Case(answers=times(1, fault=Fault.MALFORMED_CHUNK), failure="malformed",
                            partial=True),
    "no finish reason": Case(answers=times(1, fault=Fault.MISSING_FINISH), failure="cut_stream",
                             partial=True),
    "empty answer": Case(answers=times(3, fault=Fault.EMPTY), failure="malformed", requests=3),
    "a web page instead": Case(answers=times(3, fault=Fault.NOT_A_STREAM), requests=3,
                               failure="malformed or cut_stream"),  # as each SDK reads it
    "what Postgres can't hold": Case(answers=[Answer(pieces=("nul \x00 ", "half \ud83d!"))]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_a_fault_ends_in_its_state_and_the_page_goes_on(
    case: Case, provider: str, own_lab: Lab, standin: StandIn
) -> None:
    def begin() -> tuple[Participant, Session]:
        person = enrol(study_with(standin, own_lab, "talking", provider=provider))
        return person, enter(person)

    def rows() -> tuple[Reply, Message, int]:
        with lab_scope(own_lab.pk):
            reply = Reply.objects.select_related("message").get(message__seq=3)
            return reply, reply.message, Receipt.objects.filter(reply=reply).count()

    person, session = await unit(begin)
    standin.script(case.answers)
    async with Tab(person, session.id) as tab:
        await tab.say("How are you?")
        frame = await tab.until("failed" if case.failure else "reply")
        assert (frame["seq"], frame["attempt"]) == (3, 1)
        asked = len(standin.requests)
        reply, message, receipts = await unit(rows)
        assert reply.state == ("failed" if case.failure else "done")
        assert reply.failure in case.failure.split(" or ")
        assert asked == case.requests
        assert bool(reply.partial) is case.partial
        assert (message.text == "", receipts) == ((True, 0) if case.failure else (False, 1))

        if case.failure:
            assert frame["retryable"] is reply.retryable is case.retryable
            await tab.send({"type": "retry", "seq": 3})
            if case.retryable:
                again = await tab.until("reply")
                assert (again["seq"], again["attempt"]) == (3, 2)
                assert again["text"] == "你好 from the stand-in."
            else:
                assert (await tab.until("error"))["code"] == "not_retryable"
        await tab.say("And now?")
        assert (await tab.until("reply"))["seq"] == 5
    async with Tab(person, session.id) as fresh:
        history = await fresh.until("history")
    states = [item["state"] for item in history["items"]]
    expected = "failed" if case.failure and not case.retryable else "settled"
    assert states == ["settled", "settled", expected, "settled", "settled"]
    assert history["settled_seq"] == 5


async def test_retry_may_fail_more_often_than_attempts_may_die(
    own_lab: Lab, standin: StandIn
) -> None:
    def begin() -> tuple[Participant, Session]:
        person = enrol(study_with(standin, own_lab, "talking", provider="openai_compatible"))
        return person, enter(person)

    person, session = await unit(begin)
    standin.default = Answer(fault=Fault.CUT)
    async with Tab(person, session.id) as tab:
        await tab.say("How are you?")
        for attempt in range(1, 8):
            failed = await tab.until("failed")
            assert (failed["attempt"], failed["retryable"]) == (attempt, True)
            standin.default = Answer(fault=Fault.CUT if attempt < 7 else None)
            await tab.send({"type": "retry", "seq": 3})
        assert (await tab.until("reply"))["attempt"] == 8


async def test_a_new_message_closes_the_retry_before_it(own_lab: Lab, standin: StandIn) -> None:
    def begin() -> tuple[Participant, Session]:
        person = enrol(study_with(standin, own_lab, "talking", provider="openai_compatible"))
        return person, enter(person)

    person, session = await unit(begin)
    standin.script(times(1, fault=Fault.CUT))
    async with Tab(person, session.id) as tab:
        await tab.say("How are you?")
        await tab.until("failed")
        await tab.say("Never mind.")
        await tab.until("reply")
        await tab.send({"type": "retry", "seq": 3})
        assert (await tab.until("error"))["code"] == "not_retryable"


async def test_a_key_that_no_secret_opens_fails_the_reply_at_once(
    own_lab: Lab, standin: StandIn
) -> None:
    def begin() -> tuple[Participant, Session]:
        person = enrol(study_with(standin, own_lab, "talking", provider="openai_compatible"))
        with lab_scope(own_lab.pk):
            ProviderKey.objects.update(encrypted=b"from another installation")
        return person, enter(person)

    person, session = await unit(begin)
    async with Tab(person, session.id) as tab:
        await tab.say("How are you?")
        assert (await tab.until("failed"))["retryable"] is True
    assert standin.requests == []


# What it does to memory


@dataclass
class Remembered:
    """Everything that memory holds of a lab, as text and counts."""

    text: str
    strengthened: int
    episodes: int
    runs: int


def remembered(lab: Lab) -> Remembered:
    with lab_scope(lab.pk):
        events = list(MemoryEvent.objects.values_list("event", "before", "after"))
        episodes = list(Episode.objects.values_list("text", flat=True))
        traits = list(Trait.objects.values_list("text", flat=True))
        return Remembered(
            text=json.dumps([events, episodes, traits], ensure_ascii=False, default=str),
            strengthened=sum(event == "recalled" for event, _, _ in events),
            episodes=len(episodes),
            runs=ConsolidationRun.objects.count(),
        )


def noticed(lab: Lab) -> list[tuple[str, str, int]]:
    """The adverse events of a lab: source, category, number of the message."""
    with lab_scope(lab.pk):
        return list(AdverseEvent.objects.values_list("source", "category", "message__seq"))


async def consolidated(lab: Lab, person: Participant) -> None:
    keeper = DoorKeeper()
    try:
        await steps.run_steps(lab.pk, person.public_id, keeper)
    finally:
        await keeper.aclose()


async def first_talk(lab: Lab, study: Study) -> tuple[Participant, Session]:
    """A participant with one remembered conversation, now in their second."""
    person = await unit(lambda: enrol(study, arm="hybrid"))
    first = await unit(lambda: enter(person))
    async with Tab(person, first.id) as tab:
        await tab.say("I keep a parrot called Rio.")
        await tab.until("reply")
        await tab.send({"type": "end"})
        await tab.until("stage_over")
    await consolidated(lab, person)
    job = await unit(lambda: Job.objects.get(subject=first.id))
    assert (job.state, job.failure) == ("done", "")
    return person, await unit(lambda: enter(person, "T2"))


async def test_nothing_of_a_failed_reply_is_remembered_and_nothing_is_strengthened_by_it(
    provider: str, own_lab: Lab, standin: StandIn
) -> None:
    study = await unit(lambda: study_with(standin, own_lab, "talking", provider=provider))
    person, session = await first_talk(own_lab, study)
    before = await unit(remembered, own_lab)
    assert (before.episodes, before.strengthened) == (1, 0)
    async with Tab(person, session.id) as tab:
        standin.script(times(1, fault=Fault.CONTENT_FILTER))
        await tab.say("My parrot Rio whispers Quetzalcoatl.")
        await tab.until("failed")
        assert (await tab.until("card"))["paused"] is False
        assert await unit(noticed, own_lab) == [("filter", "filtered", 1)]
        standin.script([Answer(text="a half Xochipilli reply", fault=Fault.CUT)])
        await tab.say("What is my parrot called?")
        failed = await tab.until("failed")
        assert await unit(remembered, own_lab) == before
        await tab.send({"type": "retry", "seq": failed["seq"]})
        await tab.until("reply")
        after_retry = await unit(remembered, own_lab)
        assert after_retry.strengthened == 1
        await tab.send({"type": "end"})
        await tab.until("stage_over")
    await consolidated(own_lab, person)
    after = await unit(remembered, own_lab)
    assert "What is my parrot called?" in after.text
    assert "Quetzalcoatl" not in after.text
    assert "Xochipilli" not in after.text
    assert after.strengthened == 1


@pytest.mark.parametrize(
    ("faults", "degraded"),
    [
        (times(1, fault=Fault.STATUS), []),
        (times(2, fault=Fault.STATUS), ["embedding:unavailable"]),
        (times(2, fault=Fault.WRONG_DIMENSION), ["embedding:malformed"]),
        (times(2, fault=Fault.HANG_BEFORE_HEADERS), ["embedding:timeout"]),
    ],
    ids=["once", "twice", "wrong dimension", "hang"],
)
async def test_a_turn_goes_on_degraded_when_its_question_can_t_be_embedded(
    faults: list[Answer], degraded: list[str], provider: str, own_lab: Lab, standin: StandIn
) -> None:
    study = await unit(
        lambda: study_with(standin, own_lab, "embedding", provider=provider, relevance="raw")
    )
    person, session = await first_talk(own_lab, study)
    standin.script(faults)
    async with Tab(person, session.id) as tab:
        await tab.say("I keep a parrot called Rio.")
        await tab.until("reply")

    def receipt() -> Receipt:
        with lab_scope(own_lab.pk):
            return Receipt.objects.select_related("reply__message").get(reply__session=session)

    def deviations() -> list[tuple[str, dict[str, Any]]]:
        with lab_scope(own_lab.pk):
            return list(Deviation.objects.filter(session=session).values_list("kind", "details"))

    made = await unit(receipt)
    assert made.degraded == degraded
    noted = [("degraded_turn", {"turn": made.reply.message.seq, "reasons": degraded})]
    assert await unit(deviations) == (noted if degraded else [])
    strengthened = (await unit(remembered, own_lab)).strengthened
    assert strengthened == (0 if degraded else 1)


EXTRACTED = json.dumps({"traits": [], "ratings": []})


@pytest.mark.parametrize(
    ("use", "fault", "code"),
    [
        ("extraction", {"fault": Fault.STATUS}, "extraction:unavailable"),
        ("extraction", {"fault": Fault.CUT}, "extraction:cut_stream"),
        ("extraction", {"text": "I'd rather not."}, "extraction:invalid_json"),
        ("extraction", {"text": EXTRACTED}, "extraction:ratings_missing"),
        ("embedding", {"fault": Fault.STATUS, "status": 429}, "embedding:"),
        ("embedding", {"fault": Fault.NAN}, "embedding:malformed"),
    ],
)
async def test_a_consolidation_that_fails_says_so_and_is_made_up_for_once(
    use: str, fault: dict[str, Any], code: str, own_lab: Lab, standin: StandIn
) -> None:
    study = await unit(
        lambda: study_with(standin, own_lab, use, provider="openai_compatible", relevance="raw")
    )
    person = await unit(lambda: enrol(study, arm="hybrid"))
    session = await unit(lambda: enter(person))
    standin.default = Answer(**fault)
    async with Tab(person, session.id) as tab:
        await tab.say("I keep a parrot called Rio.")
        await tab.until("reply")
        await tab.send({"type": "end"})
        await tab.until("stage_over")

    def state() -> tuple[Job, list[str]]:
        with lab_scope(own_lab.pk):
            return Job.objects.get(subject=session.id), Session.objects.get(pk=session.pk).degraded

    await consolidated(own_lab, person)
    job, degraded = await unit(state)
    assert (job.state, job.attempts) == ("pending", 1)
    assert any(reason.startswith(code) for reason in degraded), degraded
    assert (await unit(remembered, own_lab)).episodes == 0

    await consolidated(own_lab, person)  # it rests between two attempts
    assert (await unit(state))[0].attempts == 1

    standin.default = Answer()
    if use == "extraction":
        standin.default = Answer(text=json.dumps(rated_by_hand(await unit(own_ids, own_lab))))
    await unit(job.restart)
    await consolidated(own_lab, person)
    job, degraded = await unit(state)
    assert (job.state, degraded) == ("done", [])
    once = await unit(remembered, own_lab)
    assert (once.episodes, once.runs) == (1, 2)
    await unit(lambda: Job.objects.filter(pk=job.pk).update(state="pending"))
    await consolidated(own_lab, person)
    assert await unit(remembered, own_lab) == once


def own_ids(lab: Lab) -> list[str]:
    with lab_scope(lab.pk):
        messages = Message.objects.filter(role="participant")
        return [str(each) for each in messages.values_list("id", flat=True)]


def rated_by_hand(ids: list[str]) -> dict[str, Any]:
    """What an extracting model may say: it answers both questions in one."""
    rating = {"intensity": 0.5, "self_disclosure": 0.5, "value_relevance": 0.5}
    return {"traits": [], "ratings": [{"message": each, **rating} for each in ids]}
