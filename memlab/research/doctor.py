"""Whether this installation can carry a study: asked before a launch, from the command line.

Each look answers with one line. What is wrong is said with its remedy; what can't be judged from
here, such as a provider without a study, isn't claimed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from channels.layers import get_channel_layer
from cryptography.fernet import Fernet
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.mail import get_connection
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django_q.status import Stat

from experiments.enums import StudyStatus
from experiments.models import LabDirectory, Study
from memlab.core import erasure_log
from memlab.core.clock import wall_now
from memlab.core.due import Due
from memlab.core.schedule import NAME
from memlab.core.tenancy import lab_scope
from memlab.core.tenancy.operations import is_tenant
from memlab.research.launch import probes

#: What is due and older than this has been forgotten by the task processes.
LATE = timedelta(minutes=10)
SHORTEST_SECRET = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look found; ``remedy`` is empty where all is well."""

    what: str
    found: str
    remedy: str = ""

    @property
    def well(self) -> bool:
        return not self.remedy


def looks() -> Iterator[Look]:
    """Every look that needs no provider, one after the other."""
    yield role()
    yield policies()
    yield migrations()
    yield tick()
    yield clusters()
    yield overdue()
    yield layer()
    yield mail()
    yield storage()
    yield erasures()
    yield secret_key()
    yield provider_secrets()


def role() -> Look:
    """The application's role must be bound by the policies that keep labs apart."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_user, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
        )
        name, superuser, bypasses = cursor.fetchone()
    powers = [name, *(["superuser"] if superuser else []), *(["bypasses"] if bypasses else [])]
    return Look(
        what="database role",
        found=", ".join(powers),
        remedy="Connect as a role with NOSUPERUSER NOBYPASSRLS: see docs/operations.md."
        if superuser or bypasses
        else "",
    )


def policies() -> Look:
    """Every tenant table enforces row-level security."""
    from django.apps import apps

    tables = [model._meta.db_table for model in apps.get_models() if is_tenant(model)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relname = ANY(%s)"
            " AND NOT (relrowsecurity AND relforcerowsecurity)",
            [tables],
        )
        open_tables = [name for (name,) in cursor.fetchall()]
    return Look(
        what="row-level security",
        found=f"off: {', '.join(open_tables)}" if open_tables else f"{len(tables)} tables",
        remedy="Run `manage.py migrate` as the tables' owner." if open_tables else "",
    )


def migrations() -> Look:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return Look(
        what="migrations",
        found=f"{len(waiting)} to come" if waiting else "all applied",
        remedy="Run `manage.py migrate`." if waiting else "",
    )


def tick() -> Look:
    """The one schedule that hands out what is due."""
    from django_q.models import Schedule

    count = Schedule.objects.filter(name=NAME).count()
    return Look(
        what="tick",
        found=f"{count} schedule{'s' if count != 1 else ''}",
        remedy="" if count == 1 else "Run `manage.py migrate`, which puts it in place.",
    )


def clusters() -> Look:
    """Task processes whose hearts beat."""
    beating = len(Stat.get_all())
    return Look(
        what="task processes",
        found=f"{beating} beating",
        remedy="" if beating else "Start `manage.py qcluster`.",
    )


def overdue() -> Look:
    """What should have happened by now."""
    late = Due.objects.filter(wall_at__lt=wall_now() - LATE).count()
    return Look(
        what="overdue work",
        found=f"{late} later than {int(LATE.total_seconds() // 60)} minutes",
        remedy="Start task processes, and look at what is due in the back office." if late else "",
    )


def layer() -> Look:
    """A message through the channel layer comes out at its other end."""
    kind = str(settings.CHANNEL_LAYERS["default"]["BACKEND"]).rpartition(".")[2]
    try:
        asyncio.run(_through_the_layer())
    except (OSError, TimeoutError) as error:
        return Look(
            what="channel layer",
            found=f"{kind}: {type(error).__name__}",
            remedy="Is Redis running at REDIS_URL?",
        )
    alone = "" if settings.REDIS_URL else ", good for one web process"
    return Look(what="channel layer", found=f"{kind}{alone}")


async def _through_the_layer() -> None:
    channels = get_channel_layer()
    name = await channels.new_channel()
    await asyncio.wait_for(channels.send(name, {"type": "doctor"}), 5)
    await asyncio.wait_for(channels.receive(name), 5)


def mail() -> Look:
    """A mail server that lets us in; no mail is sent."""
    if not settings.EMAIL_BACKEND:
        return Look(
            what="e-mail",
            found="not set up",
            remedy="Set MEMLAB_EMAIL_URL: safety alerts and reminders go by e-mail.",
        )
    try:
        opened = get_connection()
        opened.open()
        opened.close()
    except OSError as error:  # of which every SMTPException is one
        return Look(
            what="e-mail",
            found=f"{settings.EMAIL_BACKEND}: {type(error).__name__}",
            remedy="Check MEMLAB_EMAIL_URL: server, port, user and password.",
        )
    return Look(what="e-mail", found=f"from {settings.DEFAULT_FROM_EMAIL}")


def storage() -> Look:
    """Files can be written, read back and removed."""
    name, content = f"doctor/{secrets.token_hex(8)}", secrets.token_bytes(32)
    try:
        kept = default_storage.save(name, ContentFile(content))
        try:
            with default_storage.open(kept) as file:
                same = file.read() == content
        finally:
            default_storage.delete(kept)
    except OSError as error:
        return Look(
            what="storage",
            found=f"{type(error).__name__}: {error.strerror}",
            remedy="Let the application write where STORAGES leads to.",
        )
    return Look(
        what="storage",
        found=type(default_storage._wrapped).__name__ if same else "gives back something else",  # type: ignore[attr-defined]
        remedy="" if same else "Check the storage's settings.",
    )


def erasures() -> Look:
    """The log without which nobody is erased."""
    return Look(
        what="log of erasures",
        found=str(settings.ERASURE_LOG),
        remedy=""
        if erasure_log.writable()
        else "Set MEMLAB_ERASURE_LOG to a folder that web and task processes may write to.",
    )


def secret_key() -> Look:
    length = len(settings.SECRET_KEY)
    weak = length < SHORTEST_SECRET or settings.SECRET_KEY.startswith("django-insecure")
    return Look(
        what="SECRET_KEY",
        found=f"{length} characters",
        remedy=f"Set a random one of {SHORTEST_SECRET} characters or more." if weak else "",
    )


def provider_secrets() -> Look:
    """What seals the labs' provider keys and participants' addresses."""
    given = settings.PROVIDER_KEY_SECRETS
    remedy = "Set MEMLAB_SECRET_KEYS: see docs/operations.md."
    if not given:
        return Look(what="MEMLAB_SECRET_KEYS", found="not set", remedy=remedy)
    try:
        for each in given:
            Fernet(each)
    except ValueError:
        return Look(what="MEMLAB_SECRET_KEYS", found="no Fernet key", remedy=remedy)
    return Look(what="MEMLAB_SECRET_KEYS", found=f"{len(given)}, the first one seals")


def models_of_open_studies() -> Iterator[Look]:
    """Every model of every study that runs, really asked; the answers are on the checklist too."""
    for lab_id in LabDirectory.objects.order_by("pk").values_list("pk", flat=True):
        with lab_scope(lab_id):
            studies = list(
                Study.objects.filter(status__in=[StudyStatus.OPEN, StudyStatus.PILOTING])
                .order_by("pk")
                .values_list("pk", "public_id")
            )
        for study_id, public_id in studies:
            yield from _models_of(lab_id, study_id, f"study {public_id}")


def _models_of(lab_id: int, study_id: int, name: str) -> Iterator[Look]:
    try:
        answers = asyncio.run(probes.probe(lab_id, study_id, user_id=None))
    except ValidationError:
        yield Look(what=name, found="its draft can't be frozen", remedy="See its launch checklist.")
        return
    if not answers:
        yield Look(what=name, found="its models run here")
    for answer in answers:
        yield Look(
            what=f"{name}, {answer.use}",
            found=answer.failure or f"{answer.model} in {answer.milliseconds:.0f} ms",
            remedy="Check the key, the address and the model's name." if answer.failure else "",
        )
