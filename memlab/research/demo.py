"""The demo lab: one study in each language, open to whoever holds its link."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from experiments.enums import Language, MemberRole, StudyStatus
from experiments.models import EntryLink, Lab, Member, Study, User
from experiments.passwords import one_time_password
from experiments.study_templates import create_study
from memlab.core.tenancy import lab_scope

LAB_NAME = "Demo lab / 演示实验室"
OWNER = "admin@demo.example"
# Participants read the title: it says nothing of what is varied.
TITLES = {
    Language.ENGLISH: "Demo: conversations over time",
    Language.CHINESE: "演示研究：一段时间里的几次对话",
}
ZONES = {Language.ENGLISH: "UTC", Language.CHINESE: "Asia/Shanghai"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoLinks:
    """Tokens of one study's links, for participants and for test runs."""

    entry: str
    test: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What ``make run`` prints; the password was made just now and is nowhere in clear."""

    email: str
    password: str
    links: dict[Language, DemoLinks]


@transaction.atomic
def load_demo(remembered: Path) -> Demo:
    """Make the demo lab or complete it, and give its owner a new password. Safe to repeat.

    Links keep their addresses from run to run: their tokens, of which the database knows only
    hashes, are remembered in a file that its owner alone may read. Lost tokens are replaced.
    """
    owner = User.objects.filter(email=OWNER).first() or User.objects.create_user(
        email=OWNER, name="Demo"
    )
    password = one_time_password()
    owner.set_password(password)
    owner.save(update_fields=["password"])
    lab_id = _lab_of(owner)
    known = _read(remembered)
    links = {}
    with lab_scope(lab_id):
        for language in TITLES:
            study = _study(language)
            links[language] = DemoLinks(
                entry=_token(known, study, test_mode=False),
                test=_token(known, study, test_mode=True),
            )
    _write(remembered, known)
    return Demo(email=OWNER, password=password, links=links)


def _lab_of(owner: User) -> int:
    member = Member.objects.filter(user=owner).order_by("pk").first()
    if member is not None:
        return int(member.lab_id)
    lab = Lab.objects.found(name=LAB_NAME, language=Language.ENGLISH)
    Member.objects.create(user=owner, lab_id=lab.pk, role=MemberRole.OWNER, may_unblind=True)
    return int(lab.pk)


def _study(language: Language) -> Study:
    study = Study.objects.filter(title=TITLES[language]).order_by("pk").first()
    if study is None:

        def in_its_zone(fresh: Study) -> None:
            fresh.time_zone = ZONES[language]

        study = create_study(
            "controlled-all", title=TITLES[language], language=language, adjust=in_its_zone
        )
    if study.status == StudyStatus.DRAFT:
        # Whoever tries the demo shouldn't have to talk for ten minutes to see the next stage.
        study.stages.update(minimum_minutes=0, minimum_turns=2)
        study.open()
    return study


def _token(known: dict[str, str], study: Study, *, test_mode: bool) -> str:
    """The remembered token if its link still leads to the study, else a new one."""
    name = f"{study.public_id}:{'test' if test_mode else 'entry'}"
    link = EntryLink.objects.find(known[name]) if name in known else None
    if link is None or link.study_id != study.pk or link.lab_id != study.lab_id:
        known[name] = EntryLink.objects.issue(
            lab_id=study.lab_id, study_id=study.pk, test_mode=test_mode
        )
    return known[name]


def _read(path: Path) -> dict[str, str]:
    return json.loads(path.read_text()) if path.exists() else {}


def _write(path: Path, tokens: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(tokens, file, indent=2)
    fresh.replace(path)
