"""Opening a study and amending it: what fails is overridden with a reason, or nothing happens."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.utils.translation import gettext as _

from experiments.enums import AuditAction, DeviationKind, StudyStatus
from experiments.models import AuditEntry, Deviation, Study, StudyVersion
from memlab.research.launch.checklist import Checklist, checklist


class LaunchRefused(Exception):
    """What keeps the study from opening: ``troubles`` in words."""

    def __init__(self, troubles: tuple[str, ...]) -> None:
        super().__init__(" ".join(troubles))
        self.troubles = troubles


def launch(
    study: Study,
    *,
    wall: datetime,
    user_id: int | None,
    overrides: Mapping[str, str] | None = None,
    reason: str = "",
) -> StudyVersion:
    """Freeze the draft for everybody who consents from now on. Raises LaunchRefused.

    ``overrides`` maps a failing check's key to the reason why it is accepted; each is in the audit
    log, in the log of deviations and in the version. ``reason`` is an amendment's, and needed for
    one. In the caller's transaction, so that all of it is kept or none.
    """
    running = study.running() if study.status == StudyStatus.OPEN else None
    found = checklist(study, wall=wall)
    given = {key: text.strip() for key, text in (overrides or {}).items() if text.strip()}
    troubles = troubles_of(found, given)
    if running is not None and found.configuration is not None:
        if running.sha256 == found.configuration.sha256():
            troubles.append(_("The draft is the running version: there is nothing to amend."))
        if not reason.strip():
            troubles.append(_("Say why the study is amended."))
    if troubles:
        raise LaunchRefused(tuple(troubles))
    accepted = [
        {"check": finding.key, "found": finding.found, "reason": given[finding.key]}
        for finding in found.holding_up
    ]
    version = study.open(user_id=user_id, reason=reason.strip(), overrides=accepted)
    _record(study, version, running, accepted, user_id=user_id)
    return version


def troubles_of(found: Checklist, overrides: Mapping[str, str]) -> list[str]:
    """What holds the study up and isn't, or can't be, overridden."""
    return [
        f"{finding.title}: {finding.found}"
        for finding in found.holding_up
        if not finding.overridable or finding.key not in overrides
    ]


def _record(
    study: Study,
    version: StudyVersion,
    running: StudyVersion | None,
    accepted: list[dict[str, str]],
    *,
    user_id: int | None,
) -> None:
    for each in accepted:
        AuditEntry.objects.record(
            AuditAction.OVERRIDE_LAUNCH, user_id=user_id, target=study, **each
        )
        Deviation.objects.record(
            DeviationKind.OVERRIDDEN,
            study=study,
            user_id=user_id,
            check=each["check"],
            version=version.number,
        )
    facts = {"version": version.number, "sha256": version.sha256}
    if running is None:
        AuditEntry.objects.record(AuditAction.OPEN_STUDY, user_id=user_id, target=study, **facts)
        return
    AuditEntry.objects.record(
        AuditAction.AMEND_STUDY,
        user_id=user_id,
        target=study,
        **facts,
        amends=running.number,
        reason=version.reason,
    )
    Deviation.objects.record(
        DeviationKind.AMENDED,
        study=study,
        user_id=user_id,
        version=version.number,
        amends=running.number,
    )
