"""What the participation machine's people, staff and cluster can do, each by the page, the service
or the task that does it in earnest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Case, When
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.urls import reverse
from django.utils.module_loading import import_string

from chat import conversation, tasks
from chat.conversation import NoSuchSession, Refused, SessionRef
from experiments.access import COOKIE, ParticipantRef, recognise
from experiments.models import Participant, Session
from memlab.core.clock import wall_now
from memlab.core.due import Due, DueKind, handler_of
from memlab.core.tenancy import lab_scope
from questionnaires.models import Response
from tests.entering import hidden_fields
from tests.journey.machine_rows import Since
from tests.journey.machine_study import ANSWERS, TOO_OLD, World

#: Work that is planned by wall time is queued at once, and in the due table for a little later.
SOON = timedelta(seconds=60)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Posted:
    """A form that a browser has sent, with the cookie that it had."""

    url: str
    data: Any
    content_type: str
    cookie: str


class People:
    """Three people in three browsers, and who else has to do with them. ``bodies`` are what
    browsers were sent since somebody looked; ``said`` is by participant what only they wrote."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lab_id = world.lab.pk
        with lab_scope(self.lab_id):
            self.since = Since.now()
        self.suffix = uuid4().hex[:12]
        # An address of their own for each example: one address may try only so many ids.
        self.browsers = [Client(REMOTE_ADDR=f"2001:db8::{self.suffix[:4]}") for _slot in range(3)]
        self.posted: list[Posted] = []
        self.bodies: list[tuple[ParticipantRef | None, str]] = []
        self.said: dict[int, list[str]] = {}

    def get(self, slot: int, url: str) -> Any:
        response = self.browsers[slot].get(url)
        self.see(self.browsers[slot], response)
        return response

    def post(self, slot: int, url: str, data: Any, content_type: str = MULTIPART_CONTENT) -> Any:
        client = self.browsers[slot]
        cookie = client.cookies[COOKIE].value if COOKIE in client.cookies else ""
        self.posted.append(Posted(url, data, content_type, cookie))
        return self.send(client, self.posted[-1])

    def send(self, client: Client, form: Posted) -> Any:
        response = client.post(form.url, form.data, content_type=form.content_type)
        self.see(client, response)
        return response

    def see(self, client: Client, response: Any) -> None:
        """Keep what a browser was sent until the rows are looked at."""
        told = f"{response.headers.get('Location', '')}\n{response.content.decode()}"
        self.bodies.append((self.of(client), told))

    def of(self, client: Client) -> ParticipantRef | None:
        return recognise({name: morsel.value for name, morsel in client.cookies.items()})

    def person(self, slot: int) -> Participant | None:
        """Whom a browser is known as."""
        reference = self.of(self.browsers[slot])
        if reference is None:
            return None
        with lab_scope(self.lab_id):
            return Participant.objects.filter(public_id=reference.participant).first()

    def door(self, who: int) -> str:
        return (
            f"{self.world.door}?PROLIFIC_PID=id{who}x{self.suffix}"
            f"&STUDY_ID=s1&SESSION_ID=t{self.suffix}"
        )

    def words(self, person: Participant) -> str:
        """A text that nobody else has written."""
        text = f"marker{uuid4().hex[:12]}"
        self.said.setdefault(person.pk, []).append(text)
        return text

    def enter(self, slot: int, who: int) -> None:
        page = self.get(slot, self.door(who))
        if page.status_code == 200:
            self.post(slot, self.door(who), hidden_fields(page.content.decode()))

    def go_on(self, slot: int) -> None:
        """The next thing that a willing participant does."""
        page = self.get(slot, reverse("journey:onward"))
        self.do(slot, page.headers.get("Location", ""))

    def do(self, slot: int, url: str) -> None:
        """What is asked for at the address that a participant was led to."""
        forms = [reverse(f"journey:{name}") for name in ("age", "information", "consent", "code")]
        if url.startswith("/questionnaire/"):
            self.fill_in(slot, UUID(url.split("/")[2]), "valid")
        elif url.startswith("/chat/"):
            self.talk(slot, UUID(url.split("/")[2]))
        elif url in forms:
            self.entry_form(slot, url, agree=True)
        elif url == reverse("journey:home"):
            self.from_home(slot)
        elif url == reverse("journey:debriefing"):
            self.reads_debriefing(slot)
        elif url:
            self.get(slot, url)

    def from_home(self, slot: int) -> None:
        html = self.get(slot, reverse("journey:home")).content.decode()
        stage = re.search(r'href="(/journey/stage/\w+/)"', html)
        person = self.person(slot)
        if stage is not None:
            self.do(slot, self.get(slot, stage[1]).headers.get("Location", ""))
        elif person is not None:
            self.shift(person, 12 * HOUR)

    def talk(self, slot: int, session_id: UUID) -> None:
        person = self.person(slot)
        with lab_scope(self.lab_id):
            turns = Session.objects.get(pk=session_id).turns
        if person is not None and not turns:
            self.say_in(person, session_id, self.words(person), answered=True)
        elif person is not None:
            self.finish_in(person, session_id)

    def entry_form(self, slot: int, url: str, *, agree: bool) -> None:
        """Fill in a page of the entry, whichever it is."""
        page = self.get(slot, url)
        if page.status_code != 200:
            return
        answer = "yes" if agree else "no"
        fields = {
            "of_age": answer,
            "agree": "yes",
            "agree_sensitive": answer,
            "agree_telemetry": answer,
        }
        self.post(slot, url, {**hidden_fields(page.content.decode()), **fields})

    def fill_in(self, slot: int, response_id: UUID, how: str) -> None:
        """Send the page that the server would show, well or badly filled in."""
        with lab_scope(self.lab_id):
            row = Response.objects.select_related("version", "participant").get(pk=response_id)
            items = [item for item in row.content.items if item.page == row.page]
        answers = {item.code: ANSWERS[item.code] for item in items}
        for code in {"why", "guess"} & set(answers):
            answers[code] = self.words(row.participant)
        if how == "out" and "age_group" in answers:
            answers["age_group"] = TOO_OLD
        if how == "invalid":
            answers = {**answers, items[0].code: [99], "unknown": 1}
        revision = row.revision - (how == "stale")
        sent = {"page": row.page, "revision": revision, "seconds": 2.5, "answers": answers}
        url = reverse("questionnaires:save", args=[response_id])
        self.get(slot, reverse("questionnaires:answer", args=[response_id]))
        answer = self.post(slot, url, sent, "application/json")
        if how == "twice":
            answer = self.post(slot, url, sent, "application/json")
        self.world.met[f"answer {how}: {answer.status_code}"] += 1

    def last_session(self, person: Participant) -> UUID | None:
        with lab_scope(self.lab_id):
            mine = Session.objects.filter(participant=person).order_by("number")
            return mine.values_list("pk", flat=True).last()

    def say_in(self, person: Participant, session: UUID, text: str, *, answered: bool) -> None:
        reference = SessionRef(lab_id=self.lab_id, participant=person.public_id, session=session)
        try:
            said = conversation.say(reference, client_id=uuid4(), text=text, wall=wall_now())
        except (Refused, NoSuchSession) as refused:
            self.world.met[f"say: {refused or 'no session'}"] += 1
            return
        self.world.met["say: stored"] += 1
        if answered:
            tasks.run_steps(self.lab_id, str(person.public_id))  # a reply waits a minute for these
            tasks.take_over_reply(self.lab_id, str(said.reply))

    def finish_in(self, person: Participant, session: UUID) -> None:
        reference = SessionRef(lab_id=self.lab_id, participant=person.public_id, session=session)
        conversation.finish(reference, wall=wall_now())

    def reads_debriefing(self, slot: int) -> None:
        page = self.get(slot, reverse("journey:debriefing"))
        url = page.headers.get("Location", "")
        if url.startswith("/questionnaire/"):
            self.fill_in(slot, UUID(url.split("/")[2]), "valid")
        elif page.status_code == 200:
            self.post(slot, reverse("journey:debriefing"), {"use": "agree"})

    def people(self) -> list[Participant]:
        with lab_scope(self.lab_id):
            mine = Participant.objects.filter(pk__gt=self.since.participant, erased_on=None)
            return list(mine.order_by("pk"))

    def shift(self, person: Participant, gap: timedelta) -> None:
        """Let time pass for a participant, with everything that is due to them: what
        ``Participant.skip`` does in a test run, but in mid-conversation too, and without looking at
        the windows at once, for that is the due table's to bring about."""
        with lab_scope(self.lab_id):
            row = Participant.objects.select_for_update().get(pk=person.pk)
            row.clock_offset += gap
            row.save(update_fields=["clock_offset"])
            subjects = [
                row.public_id,
                *row.reminders.filter(state="planned").values_list("id", flat=True),
                *row.sessions.values_list("id", flat=True),
            ]
            for due in Due.objects.filter(subject__in=subjects, wall_at__isnull=False):
                if due.study_at is not None:
                    due.wall_at = due.study_at - row.clock_offset
                    due.save(update_fields=["wall_at"])

    def work(self, *, times: int = 1, limit: int = 50) -> int:
        rows = Due.objects.filter(lab_id=self.lab_id, wall_at__lte=wall_now() + SOON)
        memory_first = Case(When(kind=DueKind.STEPS, then=0), default=1)  # replies wait for it
        due = list(rows.order_by(memory_first, "wall_at")[:limit])
        for row in due:
            if row.study_at is not None and row.wall_at is not None and row.wall_at > wall_now():
                continue  # of study time nothing is due early
            for _time in range(times):
                import_string(handler_of(row.kind))(row.lab_id, str(row.subject))
            self.world.met[f"due: {row.kind}"] += times
        return len(due)

    def staff(self, who: int, page: str, form: dict[str, str]) -> None:
        people = self.people()
        if who < len(people):
            url = f"/admin/experiments/participant/{people[who].pk}/{page}/"
            answer = self.world.staff.post(url, form)
            self.world.met[f"staff {page}: {answer.status_code}"] += 1
