"""Two labs that never see each other: the scope, and each of the three layers alone.

Layer 1 is row-level security, layer 2 the refusing manager, layer 3 explicit filters. A layer is
alone when the other two are switched off: the manager replaced by Django's plain one, and the
connection made as a superuser, whom no policy binds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, models, transaction
from django.http import Http404, HttpRequest, HttpResponse

from chat import claims, conversation, makers
from chat.conversation import NoSuchSession, SessionRef
from chat.models import Message, Reply
from experiments.access import ParticipantRef
from experiments.models import Lab, Participant, Session, Study
from experiments.participants import for_participant
from memlab.core import env
from memlab.core.clock import wall_now
from memlab.core.devdb import DatabaseLaunchError, development_database
from memlab.core.tenancy import NoActiveLab, active_lab_id, lab_scope
from memlab.core.tenancy.models import TenantManager, TenantQuerySet
from memlab.core.work import unit
from tests.chat.sockets import Tab, cookie_of
from tests.core.interleaving import wrong_reads
from tests.studies import enrol, enter, make_study, reference_of


def setting() -> str | None:
    """The lab that Postgres has for this connection at this moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nullif(current_setting('memlab.lab_id', true), '')")
        return cursor.fetchone()[0]


def raw_labs() -> set[int]:
    """The labs whose studies plain SQL sees."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT lab_id FROM experiments_study")
        return {lab_id for (lab_id,) in cursor.fetchall()}


@pytest.mark.django_db(transaction=True)
class TestScope:
    def test_sets_the_lab_here_and_there_and_takes_it_back(self, lab: Lab) -> None:
        assert (active_lab_id(), setting()) == (None, None)
        with lab_scope(lab.pk):
            assert (active_lab_id(), setting()) == (lab.pk, str(lab.pk))
        assert (active_lab_id(), setting()) == (None, None)

    def test_nests_and_returns_to_the_outer_lab(self, lab: Lab, other_lab: Lab) -> None:
        with lab_scope(lab.pk):
            with lab_scope(other_lab.pk):
                assert (active_lab_id(), setting()) == (other_lab.pk, str(other_lab.pk))
            assert (active_lab_id(), setting()) == (lab.pk, str(lab.pk))

    def test_an_exception_rolls_back_and_restores(self, lab: Lab, other_lab: Lab) -> None:
        with lab_scope(lab.pk):
            with pytest.raises(ZeroDivisionError), lab_scope(other_lab.pk):  # noqa: PT012
                make_study(other_lab)
                raise ZeroDivisionError
            assert (active_lab_id(), setting()) == (lab.pk, str(lab.pk))
        with lab_scope(other_lab.pk):
            assert not Study.objects.exists()
        with pytest.raises(ZeroDivisionError), lab_scope(lab.pk):
            raise ZeroDivisionError
        assert (active_lab_id(), setting()) == (None, None)

    def test_ends_with_its_transaction_inside_an_outer_one(self, lab: Lab) -> None:
        with transaction.atomic():
            with lab_scope(lab.pk):
                pass
            assert setting() is None

    def test_takes_a_number_and_nothing_else(self) -> None:
        with pytest.raises(ValueError, match="invalid literal"), lab_scope("1; DROP"):  # type: ignore[arg-type]
            pass


@pytest.mark.django_db
class TestRefusingManager:
    def test_refuses_outside_a_lab(self) -> None:
        with pytest.raises(NoActiveLab, match="lab_scope"):
            Study.objects.all()

    @pytest.mark.parametrize(
        "read",
        [
            list,
            len,
            bool,
            lambda studies: studies.count(),
            lambda studies: studies.exists(),
            lambda studies: studies.first(),
            lambda studies: studies.get(),
            lambda studies: list(studies.iterator()),
            lambda studies: list(studies.values_list("pk")),
            lambda studies: studies.aggregate(models.Max("pk")),
            lambda studies: studies.in_bulk(),
            lambda studies: studies.update(title="Mine now"),
            lambda studies: studies.delete(),
            lambda studies: studies.create(title="Mine too"),
            lambda studies: studies.bulk_create([Study(title="Mine too")]),
        ],
    )
    def test_a_queryset_that_leaves_its_scope_raises(self, lab: Lab, read) -> None:
        make_study(lab)
        with lab_scope(lab.pk):
            studies = Study.objects.all()
        with pytest.raises(NoActiveLab):
            read(studies)

    def test_following_a_relation_outside_raises(self, lab: Lab) -> None:
        participant = enrol(make_study(lab))
        with lab_scope(lab.pk):
            participant = Participant.objects.get(pk=participant.pk)
        with pytest.raises(NoActiveLab):
            participant.study  # noqa: B018
        with pytest.raises(NoActiveLab):
            participant.sessions.count()
        with pytest.raises(NoActiveLab):
            participant.refresh_from_db()

    def test_a_new_row_gets_the_active_lab(self, lab: Lab, other_lab: Lab) -> None:
        with lab_scope(other_lab.pk):
            assert make_study(lab).lab_id == lab.pk


@pytest.fixture
def labs(lab: Lab, other_lab: Lab) -> tuple[Lab, Lab]:
    """Two labs with a study each."""
    for each in (lab, other_lab):
        make_study(each, title=f"Study of lab {each.pk}")
    return lab, other_lab


@pytest.fixture
def plain_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layer 2 switched off."""
    monkeypatch.setattr(TenantManager, "get_queryset", models.Manager.get_queryset)
    monkeypatch.setattr(TenantQuerySet, "_require_lab", lambda queryset: 0)


@pytest.fixture
def superuser(transactional_db: None, unpooled: None) -> Iterator[None]:
    """Layer 1 switched off: every connection of this process bypasses the policies."""
    try:
        url = development_database().superuser_url()
    except DatabaseLaunchError:
        pytest.skip("the database is not the embedded one, so its superuser is not known")
    account = {name: env.database(url)[name] for name in ("USER", "PASSWORD")}
    configured = connections.databases["default"]
    before = {name: configured[name] for name in account}
    configured.update(account)
    connection.close()
    yield
    configured.update(before)
    connection.close()


@pytest.mark.django_db(transaction=True)
class TestPoliciesAlone:
    """Layer 1, as the application's own role."""

    def test_reads_stay_in_the_lab(self, labs: tuple[Lab, Lab], plain_manager: None) -> None:
        for lab in labs:
            with lab_scope(lab.pk):
                assert raw_labs() == {lab.pk}
                assert {study.lab_id for study in Study.objects.all()} == {lab.pk}
        assert raw_labs() == set()

    def test_writes_stay_in_the_lab(self, labs: tuple[Lab, Lab], plain_manager: None) -> None:
        mine, theirs = labs
        with lab_scope(mine.pk):
            assert Study.objects.filter(lab_id=theirs.pk).update(title="Taken") == 0
            with connection.cursor() as cursor:
                cursor.execute("DELETE FROM experiments_stage WHERE lab_id = %s", [theirs.pk])
                assert cursor.rowcount == 0

    def test_the_database_refuses_a_row_of_another_lab(self, labs: tuple[Lab, Lab]) -> None:
        mine, theirs = labs
        with pytest.raises(ProgrammingError, match="row-level security"), lab_scope(mine.pk):
            Study.objects.create(lab_id=theirs.pk, title="Smuggled")

    def test_the_database_refuses_to_move_a_row(self, labs: tuple[Lab, Lab]) -> None:
        mine, theirs = labs
        with pytest.raises(ProgrammingError, match="row-level security"), lab_scope(mine.pk):
            Study.objects.update(lab_id=theirs.pk)

    def test_the_database_refuses_a_reference_to_another_lab(self, labs: tuple[Lab, Lab]) -> None:
        mine, theirs = labs
        with lab_scope(theirs.pk):
            foreign = Study.objects.get().pk
        with pytest.raises(IntegrityError, match="study_id"), lab_scope(mine.pk):
            Participant.objects.create(study_id=foreign)

    def test_a_superuser_shows_that_the_rows_are_there(
        self, labs: tuple[Lab, Lab], superuser: None
    ) -> None:
        with lab_scope(labs[0].pk):
            assert raw_labs() == {lab.pk for lab in labs}

    def test_foreign_keys_hold_even_a_superuser(
        self, labs: tuple[Lab, Lab], superuser: None, plain_manager: None
    ) -> None:
        mine, theirs = labs
        foreign = Study.objects.get(lab_id=theirs.pk).pk
        with pytest.raises(IntegrityError, match="study_id_lab_fk"), lab_scope(mine.pk):
            Participant.objects.create(study_id=foreign)


@pytest.mark.usefixtures("superuser")
class TestManagerAlone:
    """Layer 2, where no policy binds and nobody filters."""

    def test_reads_stay_in_the_lab(self, labs: tuple[Lab, Lab]) -> None:
        for lab in labs:
            with lab_scope(lab.pk):
                assert {study.lab_id for study in Study.objects.all()} == {lab.pk}
                assert list(Lab.objects.all()) == [lab]
        with pytest.raises(NoActiveLab):
            Study.objects.count()

    def test_relations_stay_in_the_lab(self, labs: tuple[Lab, Lab]) -> None:
        mine, theirs = labs
        with lab_scope(theirs.pk):
            foreign = Study.objects.get()
        with lab_scope(mine.pk):
            assert foreign.stages.count() == 0
            with pytest.raises(Study.DoesNotExist):
                foreign.refresh_from_db()

    def test_writes_stay_in_the_lab(self, labs: tuple[Lab, Lab]) -> None:
        mine, theirs = labs
        with lab_scope(mine.pk):
            Study.objects.update(title="Mine")
        with lab_scope(theirs.pk):
            assert Study.objects.get().title == f"Study of lab {theirs.pk}"


@pytest.mark.usefixtures("superuser", "plain_manager")
class TestFiltersAlone:
    """Layer 3: what a participant's cookie, a socket or a task names is looked up with its lab."""

    @pytest.fixture
    def talks(self, lab: Lab, other_lab: Lab) -> list[tuple[Participant, Session]]:
        people = [enrol(make_study(each)) for each in (lab, other_lab)]
        return [(person, enter(person)) for person in people]

    def test_a_conversation_is_its_owner_s_in_their_lab(self, talks) -> None:
        (mine, _), (_, theirs) = talks
        forged = ParticipantRef(mine.lab_id, talks[1][0].public_id)
        for owner in (reference_of(mine), forged):
            reference = SessionRef.of(owner, theirs.id)
            for act in (
                partial(conversation.view, settled_seq=0),
                partial(conversation.say, client_id=uuid4(), text="Hello"),
                partial(conversation.retry, seq=1),
                conversation.finish,
                conversation.touch,
            ):
                with pytest.raises(NoSuchSession):
                    act(reference, wall=wall_now())
        assert Message.objects.filter(session=theirs).count() == 1  # the opening line
        theirs.refresh_from_db()
        assert theirs.state == "open"

    def test_a_page_is_its_participant_s_in_their_lab(self, talks) -> None:
        (mine, _), (them, _) = talks
        request = HttpRequest()
        forged = ParticipantRef(mine.lab_id, them.public_id)
        value = cookie_of(them, forged).partition("=")[2]
        request.COOKIES = {"memlab_participant": value}
        with pytest.raises(Http404):
            for_participant(lambda request, participant: HttpResponse("seen"))(request)

    def test_a_task_does_nothing_to_another_lab(self, talks) -> None:
        (mine, _), (them, theirs) = talks
        said = conversation.say(
            SessionRef.of(reference_of(them), theirs.id),
            client_id=uuid4(), text="Hello", wall=wall_now(),
        )  # fmt: skip
        assert claims.claim(mine.lab_id, said.reply, wall=wall_now()) is None
        assert claims.session_of(mine.lab_id, said.reply) is None
        assert claims.next_pending(mine.lab_id, theirs.id) is None
        assert makers._close(mine.lab_id, theirs.id) is None
        reply = Reply.objects.get(pk=said.reply)
        assert (reply.state, reply.attempt, reply.lease_until) == ("pending", 0, None)

    async def test_a_socket_is_its_owner_s(self, talks) -> None:
        (mine, _), (_, theirs) = talks
        async with Tab(mine, theirs.id) as tab:
            assert await tab.closed() == 4404
        assert tab.frames == []


@pytest.mark.django_db(transaction=True)
class TestInterleaving:
    """200 coroutines in turns as one lab and the other, some of which fail in mid-scope."""

    @pytest.mark.usefixtures("unpooled")
    async def test_without_a_pool(self, labs: tuple[Lab, Lab]) -> None:
        assert await wrong_reads([lab.pk for lab in labs]) == 0

    def test_with_a_pool(self, labs: tuple[Lab, Lab]) -> None:
        finished = subprocess.run(
            [sys.executable, "-m", "tests.core.interleaving", *(str(lab.pk) for lab in labs)],
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.core.pooled_settings"},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (finished.stdout.strip(), finished.returncode) == ("0", 0), finished.stderr

    async def test_a_wrong_read_would_be_counted(self, labs: tuple[Lab, Lab]) -> None:
        assert await wrong_reads([labs[0].pk, labs[1].pk + 1]) > 0

    async def test_a_scope_does_not_leak_into_other_tasks(self, lab: Lab) -> None:
        def inside() -> int | None:
            with lab_scope(lab.pk):
                return active_lab_id()

        assert await unit(inside) == lab.pk
        assert active_lab_id() is None
