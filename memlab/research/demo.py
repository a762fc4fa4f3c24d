"""The demo lab: one study in each language, open to whoever holds its link."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.db import transaction

from experiments.enums import Language, MemberRole, StudyStatus
from experiments.models import EntryLink, Lab, Member, Study, User
from experiments.passwords import one_time_password
from experiments.study_templates import create_study
from memlab.core.clock import wall_now
from memlab.core.tenancy import lab_scope
from memlab.research.launch.demonstration import open_demonstration

LAB_NAME = "Demo lab / 演示实验室"
OWNER = "admin@demo.example"
# Participants read the title: it says nothing of what is varied.
TITLES = {
    Language.ENGLISH: "Demo: conversations over time",
    Language.CHINESE: "演示研究：一段时间里的几次对话",
}
# Numbers that are real: somebody who tries the demo may need one.
#: Well known and public; whoever runs a study checks them for its participants' country first.
HOTLINES = {
    Language.ENGLISH: (
        "988 Lifeline (United States) | 988 | call or text, day and night\n"
        "Samaritans (United Kingdom, Ireland) | 116 123 | day and night\n"
        "Find A Helpline | https://findahelpline.com | lines in your country"
    ),
    Language.CHINESE: (
        "全国统一心理援助热线 | 12356 | 服务时间因地而异\n"
        "希望24热线 | 400-161-9995 | 24 小时\n"
        "急救 | 120 | 生命有危险时"
    ),
}
DEBRIEFINGS = {
    Language.ENGLISH: (
        "Thank you for taking part.\n\n"
        "We wanted to know how an assistant's memory changes the conversations that people have "
        "with it. From the second conversation on, what your assistant could remember was decided "
        "by chance: for some it remembered nothing, for others the whole conversation, an outline, "
        "or single moments that fade with time. Everything else was the same for everybody. We "
        "didn't say so before, because knowing it would have changed what you expect.\n\n"
        "This study is a demonstration. Nothing of it is analysed."
    ),
    Language.CHINESE: (
        "感谢你的参与。\n\n"
        "我们想了解：助手的记忆会怎样改变人与它的对话。从第二次对话开始，你的助手能记住什么是随机决定的："
        "有的什么也不记得，有的记得全部对话，有的只记得大概，有的记得一些会随时间淡去的片段。"
        "其他方面对每个人都一样。我们事先没有说明，因为知道这一点会改变你的预期。\n\n"
        "这是一项演示研究，其中的内容不会用于分析。"
    ),
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
            study = _study(language, owner)
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


def _study(language: Language, owner: User) -> Study:
    study = Study.objects.filter(title=TITLES[language]).order_by("pk").first()
    if study is None:
        study = create_study(
            "controlled-all",
            title=TITLES[language],
            language=language,
            adjust=partial(_adjust, language=language),
        )
    if study.status == StudyStatus.DRAFT:
        # Whoever tries the demo shouldn't have to talk for ten minutes to see the next stage.
        study.stages.update(minimum_minutes=0, minimum_turns=2)
        open_demonstration(study, wall=wall_now(), user_id=owner.pk)
    return study


def _adjust(study: Study, *, language: Language) -> None:
    """What a template leaves to the lab: without it no study opens, not even for show."""
    study.time_zone = ZONES[language]
    study.target_size = 40
    study.safety_contact_name = "Demo"
    study.safety_contact_email = OWNER
    study.hotlines = study.hotlines or HOTLINES[language]
    study.debriefing = study.debriefing or DEBRIEFINGS[language]


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
