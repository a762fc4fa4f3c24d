"""Subject access: one file of everything that is kept about a person.

It is collected by the rules by which it would be erased. What tells the arm, which is whatever
their memory left and the receipts of its replies, is part of it only for who may know the arm.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import translation
from django.utils.translation import gettext as _now

from experiments.enums import ParticipantState, StudyStatus
from experiments.models import Participant
from memlab.core.personal import Person, Rows, rules
from memlab.journey.withdrawing import person_of

#: A study whose arms are no secret any more.
OPEN_BOOKS = (StudyStatus.CLOSED, StudyStatus.ARCHIVED)


def archive(participant: Participant, *, with_arm: bool, wall: datetime) -> bytes:
    """The whole zip, or an exception: nobody ever gets half of it. Call inside the lab's scope.

    Some tens of thousands of rows fit into memory; there is one participant in it.
    """
    person = person_of(participant)
    told = [rule for rule in rules() if with_arm or not rule.evidence]
    tables = {
        rule.model: [_told(rule, row, with_arm) for row in _in_order(rule, person)] for rule in told
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("README.txt", _readme(participant, tables, with_arm=with_arm, wall=wall))
        files.writestr("data.json", json.dumps(tables, cls=_Encoder, ensure_ascii=False, indent=1))
        for name, content in _files(told, person):
            files.writestr(f"files/{name}", content)
    return written.getvalue()


def may_know_arm(participant: Participant) -> bool:
    """Whether the person may be told what would tell their arm: once the study is closed, and not
    before their own part in it is over, for who is in a study that closes goes on."""
    on_their_way = participant.state in (ParticipantState.INVITED, ParticipantState.ACTIVE)
    return participant.study.status in OPEN_BOOKS and not on_their_way


def _in_order(rule: Rows, person: Person) -> models.QuerySet[Any]:
    """As somebody would read them: conversations in their order, not in that of random ids."""
    return rule.of(person).order_by(*rule.model_class()._meta.ordering or ["pk"])


def _told(rule: Rows, row: models.Model, with_arm: bool) -> dict[str, Any]:
    hidden = rule.hidden if with_arm else rule.hidden | rule.evidence_fields
    told = {
        column.name: getattr(row, column.attname)
        for column in row._meta.concrete_fields
        if column.name not in hidden and column.name != "lab"
    }
    return told | dict(rule.tells(row) if rule.tells else {})


class _Encoder(DjangoJSONEncoder):
    """Embeddings as lists of numbers, too."""

    def default(self, value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else super().default(value)


def _files(told: list[Rows], person: Person) -> Iterator[tuple[str, bytes]]:
    for rule in told:
        for storage, name in rule.files(person):
            with storage.open(name) as stored:
                yield name, stored.read()


def _readme(
    participant: Participant, tables: dict[str, list[Any]], *, with_arm: bool, wall: datetime
) -> str:
    with translation.override(participant.shown_study.language):
        lines = [
            _now("Everything that the study “%(study)s” keeps about participant %(code)s.")
            % {"study": participant.shown_study.title, "code": participant.code},
            _now("Made at %(at)s (UTC).") % {"at": wall.strftime("%Y-%m-%d %H:%M")},
            "",
            _now(
                "data.json holds every record as it is stored, by kind. Times are UTC; “study "
                "time” runs as the participant's clock does."
            ),
            _now("Left out are only secrets: the hash of a password, and keyed hashes of links."),
        ]
        if not with_arm:
            lines += [
                "",
                _now(
                    "Held apart until the study is closed is what would tell which group of the "
                    "study this is: what the assistant remembers, how each of its answers was "
                    "made, and the drawing of the group. It can be asked for then."
                ),
            ]
        lines += ["", _now("Records:")]
        for label, rows in tables.items():
            kind = apps.get_model(label)._meta.verbose_name_plural
            lines.append(f"- {label} ({kind}): {len(rows)}")
    return "\n".join(lines) + "\n"
