"""Recruiters: whoever is sent takes a code back, and stages that are studies of their own there
are whole."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from experiments.enums import Outcome
from experiments.models import Recruiter
from memlab.research.launch.draft import Draft
from memlab.research.launch.finding import Finding, State


def completion_codes(draft: Draft) -> list[Finding]:
    """Whoever is sent by a recruiter takes a code back.

    Where each stage is a recruiter's study of its own, what is complete is a stage: its code is
    looked for by ``stages_of_their_own``.
    """
    title = _("Completion codes")
    recruiters = list(draft.study.recruiters.select_related("stage"))
    if not recruiters:
        found = _("No recruiter sends people, so none is needed.")
        return [Finding(key="completion_codes", title=title, state=State.OK, found=found)]
    whole = any(recruiter.stage_id is None for recruiter in recruiters)
    needed = [outcome for outcome in Outcome if whole or outcome is not Outcome.COMPLETE]
    codes = draft.study.completion_codes.filter(stage__isnull=True)
    given = {Outcome(outcome) for outcome in codes.values_list("outcome", flat=True)}
    missing = [outcome for outcome in needed if outcome not in given]
    if not missing:
        found = _("There is one for every way in which participation ends.")
        return [Finding(key="completion_codes", title=title, state=State.OK, found=found)]
    return [
        Finding(
            key="completion_codes",
            title=title,
            state=State.BLOCKING if Outcome.COMPLETE in missing else State.WARNING,
            found=_("%(recruiters)s sends people, but there is no code for: %(outcomes)s.")
            % {
                "recruiters": ", ".join(str(recruiter) for recruiter in recruiters),
                "outcomes": ", ".join(str(outcome.label) for outcome in missing),
            },
            remedy=_("Add the recruiter's codes."),
            url=reverse("admin:experiments_completioncode_changelist"),
        )
    ]


def stages_of_their_own(draft: Draft) -> list[Finding]:
    """Each stage that is a recruiter's study of its own names that study, gives its own code, and
    is one of a whole series; nothing to say where there is none."""
    recruiters = [
        recruiter
        for recruiter in draft.study.recruiters.select_related("stage").order_by("stage__number")
        if recruiter.stage is not None
    ]
    if not recruiters:
        return []
    title, left_out = _("Recruiters of single stages"), _left_out(draft)
    unnamed, codeless = list(_unnamed(recruiters)), list(_without_code(draft, recruiters))
    if unnamed or codeless:
        return [
            Finding(
                key="recruiter_stages",
                title=title,
                state=State.BLOCKING,
                found=" ".join([*unnamed, *codeless, *left_out]),
                remedy=_(
                    "Give each of these recruiters its own id of the study, and each of these "
                    "stages a completion code of its own."
                ),
                url=_recruiters_url()
                if unnamed
                else reverse("admin:experiments_completioncode_changelist"),
            )
        ]
    if left_out:
        return [
            Finding(
                key="recruiter_stages",
                title=title,
                state=State.WARNING,
                found=" ".join(left_out),
                remedy=_("Add a recruiter for each of these stages, or one for the whole study."),
                url=_recruiters_url(),
            )
        ]
    found = _("%(recruiters)s: each stage gives a code of its own.") % {
        "recruiters": ", ".join(str(recruiter) for recruiter in recruiters)
    }
    return [Finding(key="recruiter_stages", title=title, state=State.OK, found=found)]


def _unnamed(recruiters: list[Recruiter]) -> Iterator[str]:
    """Recruiters by whose links somebody could come from another of the recruiter's studies."""
    nameless = [each for each in recruiters if each.names.study and not each.expected_study]
    if nameless:
        yield _("The recruiter's id of the study is missing: %(recruiters)s.") % {
            "recruiters": ", ".join(str(each) for each in nameless)
        }
    ids = Counter(each.expected_study for each in recruiters if each.expected_study)
    twice = [each for each in recruiters if ids[each.expected_study] > 1]
    if twice:
        yield _("The same id of the recruiter's study is given to: %(recruiters)s.") % {
            "recruiters": ", ".join(str(each) for each in twice)
        }


def _without_code(draft: Draft, recruiters: list[Recruiter]) -> Iterator[str]:
    codes = draft.study.completion_codes.filter(outcome=Outcome.COMPLETE)
    given = set(codes.values_list("stage_id", flat=True))
    keys = dict.fromkeys(
        each.stage.key for each in recruiters if each.stage and each.stage_id not in given
    )
    if keys:
        yield _("There is no code for: %(stages)s.") % {"stages": ", ".join(keys)}


def _left_out(draft: Draft) -> list[str]:
    """Stages to which a recruiter leads nobody, although it leads to others one by one."""
    reached: dict[tuple[str, str], set[int | None]] = defaultdict(set)
    names: dict[tuple[str, str], str] = {}
    for recruiter in draft.study.recruiters.all():
        which = (recruiter.kind, recruiter.name.strip().casefold())
        reached[which].add(recruiter.stage_id)
        names[which] = recruiter.name or recruiter.get_kind_display()
    stages = list(draft.study.stages.order_by("number"))
    said = []
    for which, ids in reached.items():
        keys = [stage.key for stage in stages if stage.pk not in ids]
        if None not in ids and keys:
            said.append(
                _("%(recruiter)s leads nobody to: %(stages)s.")
                % {"recruiter": names[which], "stages": ", ".join(keys)}
            )
    return said


def _recruiters_url() -> str:
    return reverse("admin:experiments_recruiter_changelist")
