"""A restored backup brings people back whom the log of erasures has: they are erased again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from experiments.enums import WithdrawalKind, WithdrawnBy
from experiments.models import ErasureReceipt, Lab, Participant, Withdrawal
from memlab.core import erasure_log
from memlab.core.clock import wall_now
from memlab.core.personal import rules
from memlab.core.tenancy import lab_scope
from memlab.journey.withdrawing import person_of, withdraw
from memlab.research import erasure
from tests.admin.filled import FilledLab, fill

Dump = list[tuple[str, list[str], list[tuple[Any, ...]]]]


@pytest.fixture(autouse=True)
def log(settings, tmp_path: Path) -> Path:
    settings.ERASURE_LOG = tmp_path
    return tmp_path / erasure_log.NAME


@pytest.fixture
def filled(lab: Lab) -> FilledLab:
    made = fill(lab, "CANARYALICE")
    with lab_scope(lab.pk):
        Withdrawal.objects.all().delete()
    return made


def backup(filled: FilledLab) -> Dump:
    """Every row of the participant, as the database holds it."""
    dump: Dump = []
    with lab_scope(filled.lab.pk), connection.cursor() as cursor:
        person = person_of(filled.participant)
        for rule in rules():
            meta = rule.model_class()._meta
            keys = [str(key) for key in rule.of(person).values_list("pk", flat=True)]
            cursor.execute(
                f'SELECT * FROM "{meta.db_table}" WHERE {meta.pk.column}::text = ANY(%s)', [keys]
            )
            columns = [column.name for column in cursor.description]
            dump.append((meta.db_table, columns, cursor.fetchall()))
    return dump


def restore(filled: FilledLab, dump: Dump) -> None:
    """Put the rows back beside what has come since."""
    with lab_scope(filled.lab.pk), connection.cursor() as cursor:
        for table, columns, rows in dump:
            names = ", ".join(f'"{name}"' for name in columns)
            for row in rows:
                marks = ", ".join(["%s"] * len(row))
                cursor.execute(
                    f'INSERT INTO "{table}" ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING',
                    row,
                )


def left(filled: FilledLab) -> set[str]:
    with lab_scope(filled.lab.pk):
        person = person_of(filled.participant)
        return {rule.model for rule in rules() if rule.of(person).exists()}


def erase(filled: FilledLab, kind: WithdrawalKind = WithdrawalKind.ERASE) -> None:
    with lab_scope(filled.lab.pk):
        person = Participant.objects.get(pk=filled.participant.pk)
        done = withdraw(person, kind, by=WithdrawnBy.PARTICIPANT, wall=wall_now())
    erasure.carry_out(filled.lab.pk, done.withdrawal.pk, wall=wall_now())


def replay(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    call_command("replay_erasures", *options)
    return capsys.readouterr().out.strip()


def test_whoever_came_back_is_erased_again_once(filled: FilledLab, capsys, log: Path) -> None:
    dump = backup(filled)
    erase(filled)
    written = log.read_text()
    assert replay(capsys) == "1 lines read, 0 people erased again."
    restore(filled, dump)
    assert "chat.Message" in left(filled)
    assert replay(capsys, "--dry-run") == "1 lines read, 1 people would be erased again."
    assert replay(capsys) == "1 lines read, 1 people erased again."
    assert left(filled) == set()
    assert replay(capsys) == "1 lines read, 0 people erased again."
    assert log.read_text() == written  # the person's receipt is the same
    with lab_scope(filled.lab.pk):
        assert ErasureReceipt.objects.filter(kind="erase").count() == 2  # one is the fixture's


def test_whoever_was_anonymised_is_so_again(filled: FilledLab, capsys) -> None:
    erase(filled, WithdrawalKind.ANONYMISE)
    with lab_scope(filled.lab.pk):  # as the backup has it: the same row, under its old names
        row = Participant.objects.filter(pk=filled.participant.pk)
        row.update(public_id=filled.participant.public_id, code=filled.participant.code)
    assert replay(capsys) == "1 lines read, 1 people erased again."
    with lab_scope(filled.lab.pk):
        person = Participant.objects.get(pk=filled.participant.pk)
        assert person.public_id != filled.participant.public_id


def test_who_was_anonymised_and_then_erased_is_erased_in_a_backup_from_before_both(
    filled: FilledLab, capsys
) -> None:
    dump = backup(filled)
    erase(filled, WithdrawalKind.ANONYMISE)
    erase(filled)
    restore(filled, dump)
    assert "chat.Message" in left(filled)
    assert replay(capsys) == "2 lines read, 1 people erased again."
    assert left(filled) == set()
    assert replay(capsys) == "2 lines read, 0 people erased again."


def test_a_changed_secret_key_still_finds_them(filled: FilledLab, capsys, settings) -> None:
    dump = backup(filled)
    erase(filled)
    restore(filled, dump)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret key of a sufficient length, for tests only"
    assert replay(capsys) == "1 lines read, 1 people erased again."


def test_a_missing_log_is_an_error(filled: FilledLab, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be read: No such file"):
        call_command("replay_erasures", "--log", str(tmp_path / "nowhere"))


def test_an_operator_erases_by_the_code(filled: FilledLab, other_lab: Lab, capsys) -> None:
    call_command("erase_participant", filled.participant.code.lower(), "--yes")
    said = capsys.readouterr().out
    assert said.startswith("Erased.\nThe code of the receipt, for the person: ")
    assert left(filled) == set()
    with pytest.raises(CommandError, match="There is no participant"):
        call_command("erase_participant", filled.participant.code, "--yes")
