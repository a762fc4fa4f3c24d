"""A whole participation, driven at random through the pages that browsers see.

Three people whom a recruiter sends come and go in three browsers, answer, talk, withdraw, miss
stages, post things twice and late; time passes, due work is done, done twice, or not done at all.
After every step everything that must hold is read from the rows
(``machine_invariants``) and looked for
in what the browsers were sent.

The suite runs a few examples. For a proof, with a database of its own, as many as one wants:

    MEMLAB_TEST_DATABASE=test_machine MEMLAB_MACHINE_RUNS=1000 MEMLAB_MACHINE_STEPS=50 \\
        .venv/bin/python -m pytest tests/journey/test_participation_machine.py -s

Then it prints which rules fired how often and what the participants met. A failure prints its steps
and a blob with which it can be had again (``@reproduce_failure`` on ``Participation``). With
MEMLAB_MACHINE_SHRINK=0 it isn't made smaller first, which takes up to five minutes.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from uuid import uuid4

import pytest
from django.core import mail
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from django_q.models import OrmQ
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from experiments.access import COOKIE
from experiments.models import Lab, Session
from memlab.core.due import Due
from memlab.core.tenancy import lab_scope
from questionnaires.models import Response
from tests.journey import machine_invariants, machine_rows
from tests.journey.machine_invariants import History, may_see
from tests.journey.machine_people import HOUR, People
from tests.journey.machine_rows import Rows
from tests.journey.machine_study import ARM_WORDS, CODES, STAGES, World, make_world

RUNS = int(os.environ.get("MEMLAB_MACHINE_RUNS", "8"))
STEPS = int(os.environ.get("MEMLAB_MACHINE_STEPS", "25"))
SHRINKS = os.environ.get("MEMLAB_MACHINE_SHRINK", "1") != "0"
PHASES = (Phase.reuse, Phase.generate, *([Phase.shrink] if SHRINKS else []))
#: Logs of a lab grow with its people: a new one now and then keeps long runs at their pace.
EXAMPLES_A_WORLD = 50
RISK = "I want to die."

slots = st.integers(0, 2)
yes = st.booleans()
#: Most people stay: an example in which everybody leaves at once shows little.
seldom = st.sampled_from((False, False, False, True))
Step = TypeVar("Step", bound=Callable[..., Any])


def act(**given: Any) -> Callable[[Step], Any]:
    """A rule that is counted."""

    def decorate(step: Step) -> Any:
        @wraps(step)
        def counted(self: Participation, **drawn: Any) -> None:
            self.world.fired[step.__name__] += 1
            step(self, **drawn)

        return rule(**given)(counted)

    return decorate


class Worlds:
    """The world of the present example. Every world is a lab of its own."""

    def __init__(self) -> None:
        self.examples = 0
        self.fired: Counter[str] = Counter()
        self.met: Counter[str] = Counter()

    def next(self) -> World:
        if self.examples % EXAMPLES_A_WORLD == 0:
            lab = Lab.objects.found(name=f"Lab {uuid4().hex[:8]}")
            self.world = make_world(lab, fired=self.fired, met=self.met)
        self.examples += 1
        return self.world


class Participation(People, RuleBasedStateMachine):
    """The rules are what people, staff and the cluster can do; nothing is expected of them but that
    no page breaks. What must hold is in the invariants."""

    worlds: ClassVar[Worlds]

    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        People.__init__(self, self.worlds.next())
        self.searched: set[int] = set()
        self.history = History()
        self.rows: Rows | None = None

    # What people do

    @initialize(how_far=st.sampled_from((0, 2, 6, 8, 9, 11, 14, 16, 19, 21, 23, 26)))
    def somebody_is_on_their_way(self, how_far: int) -> None:
        if how_far:
            self.enter(0, 0)
            for _step in range(how_far):
                self.go_on(0)

    @act(slot=slots, who=slots, fresh=yes)
    def arrives(self, slot: int, who: int, fresh: bool) -> None:
        if fresh:
            self.browsers[slot] = Client()
        self.enter(slot, who)

    @act(slot=slots)
    def a_willing_one_goes_on(self, slot: int) -> None:
        """Comes first among the rules, which makes it the most frequent: otherwise few get far."""
        self.go_on(slot)

    @act(slot=slots, times=st.integers(2, 8))
    def proceeds(self, slot: int, times: int) -> None:
        for _step in range(times):
            self.go_on(slot)

    @act(slot=slots, old_enough=yes)
    def says_their_age(self, slot: int, old_enough: bool) -> None:
        self.entry_form(slot, reverse("journey:age"), agree=old_enough)

    @act(slot=slots, answer=st.sampled_from(("agree", "not sensitive", "decline", "nothing")))
    def consents(self, slot: int, answer: str) -> None:
        url = reverse("journey:consent")
        if answer == "decline":
            self.post(slot, url, {"decline": "yes"})
        elif answer == "nothing":
            self.post(slot, url, {"agree": "yes"})
        else:
            self.entry_form(slot, url, agree=answer == "agree")

    @act(
        slot=slots,
        nth=st.integers(0, 7),
        how=st.sampled_from(("valid", "invalid", "stale", "twice", "out", "foreign")),
    )
    def answers(self, slot: int, nth: int, how: str) -> None:
        """Some questionnaire that there is, whether it is theirs and asked now or not."""
        person = self.person(slot)
        with lab_scope(self.lab_id):
            found = Response.objects.filter(participant_id__gt=self.since.participant)
            if how != "foreign":
                found = found.filter(participant=person)
            ids = list(found.order_by("started_at").values_list("pk", flat=True))
        if ids:
            self.fill_in(slot, ids[-1 - nth % len(ids)], how)

    @act(slot=slots, name=st.sampled_from(
        ("home", "onward", "end", "paused", "debriefing", "withdrawn", "messages", "withdraw",
         "age", "information", "consent", "code", "contact")
    ))  # fmt: skip
    def opens(self, slot: int, name: str) -> None:
        self.get(slot, reverse(f"journey:{name}"))

    @act(slot=slots, page=st.sampled_from(("stage", "done")), key=st.sampled_from((*STAGES, "T9")))
    def opens_stage(self, slot: int, page: str, key: str) -> None:
        answer = self.get(slot, reverse(f"journey:{page}", args=[key]))
        self.world.met[f"{page}: {answer.status_code}"] += 1

    @act(slot=slots, nth=st.integers(0, 5), page=st.sampled_from(("conversation", "after")))
    def opens_session(self, slot: int, nth: int, page: str) -> None:
        """Anybody's."""
        with lab_scope(self.lab_id):
            mine = Session.objects.filter(participant_id__gt=self.since.participant)
            ids = list(mine.order_by("started_wall").values_list("pk", flat=True))
        name = "chat:conversation" if page == "conversation" else "journey:after"
        if ids:
            self.get(slot, reverse(name, args=[ids[nth % len(ids)]]))

    @act(slot=slots, risky=st.sampled_from((False, False, False, True)), answered=yes)
    def says(self, slot: int, risky: bool, answered: bool) -> None:
        person = self.person(slot)
        session = None if person is None else self.last_session(person)
        if person is not None and session is not None:
            text = self.words(person)
            self.say_in(person, session, f"{RISK} {text}" if risky else text, answered=answered)

    @act(slot=slots, times=st.integers(1, 2))
    def finishes(self, slot: int, times: int) -> None:
        person = self.person(slot)
        session = None if person is None else self.last_session(person)
        for _time in range(times):
            if person is not None and session is not None:
                self.finish_in(person, session)

    @act(slot=slots, answer=st.sampled_from(("agree", "refuse", "")))
    def answers_debriefing(self, slot: int, answer: str) -> None:
        self.post(slot, reverse("journey:debriefing"), {"use": answer})

    @act(slot=slots, kind=st.sampled_from(("chat", "all", "anonymise", "erase")), sure=seldom)
    def withdraws(self, slot: int, kind: str, sure: bool) -> None:
        more = {"confirm": "yes"} if sure else {}
        self.post(slot, reverse("journey:withdraw"), {"kind": kind, "reason": "", **more})

    @act(nth=st.integers(0, 40))
    def sends_again(self, nth: int) -> None:
        """What a browser has sent before, with the cookies of then: a double click, a tab that was
        left open, a person who is gone."""
        if self.posted:
            form = self.posted[-1 - nth % len(self.posted)]
            client = Client()
            if form.cookie:
                client.cookies[COOKIE] = form.cookie
            self.send(client, form)

    # What time, staff and the cluster do

    @act(who=st.integers(0, 3), hours=st.one_of(st.integers(1, 40), st.integers(1, 300)))
    def time_passes(self, who: int, hours: int) -> None:
        """For one participant, or for everybody."""
        people = self.people()
        for person in people if who == 3 else people[who : who + 1]:
            self.shift(person, hours * HOUR)

    @act(times=st.integers(1, 2))
    def due_work_is_done(self, times: int) -> None:
        """All of it, once or twice."""
        self.work(times=times)

    @act(times=st.integers(1, 2), limit=st.integers(1, 3))
    def some_due_work_is_done(self, times: int, limit: int) -> None:
        """And the rest later, or never."""
        self.work(times=times, limit=limit)

    @act(who=slots)
    def staff_let_them_go_on(self, who: int) -> None:
        self.staff(who, "resume", {})

    @act(who=slots, key=st.sampled_from(STAGES), hours=st.integers(1, 72))
    def staff_extend(self, who: int, key: str, hours: int) -> None:
        form = {"stage": key, "hours": str(hours), "until_0": "", "until_1": "", "reason": "ill"}
        self.staff(who, "extend", form)

    @act(who=slots, kind=st.sampled_from(("chat", "all", "anonymise", "erase")), sure=seldom)
    def staff_withdraw(self, who: int, kind: str, sure: bool) -> None:
        people = self.people()
        if who < len(people):
            code = people[who].code if sure else "wrong"
            self.staff(who, "withdraw", {"kind": kind, "reason": "", "code": code})

    # What must hold

    @invariant()
    def rows_are_right(self) -> None:
        with lab_scope(self.lab_id):
            self.rows = machine_rows.read(self.since)
            machine_invariants.check(self.rows, self.history)
            self.nothing_is_left_of_the_erased()
        self.bodies_tell_nothing(self.rows)

    def nothing_is_left_of_the_erased(self) -> None:
        assert self.rows is not None
        for pk in set(self.said) - set(self.rows.people) - self.searched:
            self.searched.add(pk)
            self.world.met["erased and searched for"] += 1
            for text in self.said[pk]:
                found = machine_rows.tables_with(text)
                assert not found, f"What an erased participant wrote is still in {found}."

    def bodies_tell_nothing(self, rows: Rows) -> None:
        by_id = {person["public_id"]: person for person in rows.people.values()}
        for reference, body in self.bodies:
            for word in ARM_WORDS:
                assert word not in body, f"A browser was told {word!r}."
            person = None if reference is None else by_id.get(str(reference.participant))
            for (outcome, stage), code in CODES.items():
                if code in body:
                    assert person is not None, f"{code} was shown to nobody known."
                    assert may_see(rows, person, outcome, stage), f"{code}: {person}"
                    self.world.met[f"code shown: {code}"] += 1
        self.bodies.clear()

    def teardown(self) -> None:
        """In the end time takes everybody to their end: nobody's participation hangs."""
        try:
            for _round in range(6):
                for person in self.people():
                    self.shift(person, 100 * HOUR)
                if not self.work(limit=200):
                    break
            self.rows_are_right()
            assert self.rows is not None
            for pk, row in self.rows.people.items():
                self.world.met[f"end: {row['state']}"] += 1
                self.met_stages(pk)
                if row["paused_at"] is None:
                    assert row["state"] != "active", f"Nobody ends this participation: {row}"
                    under_way = ("open", "closing", "ended")
                    assert row["state"] == "withdrawn" or not [
                        s for s in self.rows.sessions[pk] if s["state"] in under_way
                    ], "A conversation is left hanging."
        finally:
            Due.objects.filter(lab_id=self.lab_id).delete()
            OrmQ.objects.all().delete()
            mail.outbox.clear()

    def met_stages(self, pk: int) -> None:
        assert self.rows is not None
        for session in self.rows.sessions[pk]:
            self.world.met[f"session {session['stage_key']} {session['state']}"] += 1
        for mark in self.rows.marks[pk]:
            self.world.met[f"{mark['lost']} {mark['stage_key']}"] += 1


@pytest.fixture
def worlds(kept_rows: None, tmp_path: Path) -> Iterator[Worlds]:
    Participation.worlds = Worlds()
    with override_settings(ERASURE_LOG=tmp_path):
        yield Participation.worlds


def test_whatever_happens_a_participation_stays_right(worlds: Worlds) -> None:
    begun = time.monotonic()
    try:
        run_state_machine_as_test(
            Participation,
            settings=settings(
                max_examples=RUNS,
                stateful_step_count=STEPS,
                deadline=None,
                derandomize=False,
                print_blob=True,
                phases=PHASES,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        report(worlds, seconds=time.monotonic() - begun)


def report(worlds: Worlds, *, seconds: float) -> None:
    """What was done and met, for whoever runs a proof (``-s``)."""
    steps = sum(worlds.fired.values())
    print(f"\n{worlds.examples} examples, {steps} steps, {seconds:.0f} s")
    for title, counts in (("Rules", worlds.fired), ("Met", worlds.met)):
        print(title)
        for name, count in sorted(counts.items()):
            print(f"  {count:7d}  {name}")
