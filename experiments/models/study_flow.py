"""A study's way from draft to archive, and the versions that opening and amending freeze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from experiments.enums import StudyStatus

if TYPE_CHECKING:
    from experiments.configuration import StudyConfiguration
    from experiments.models.study import Study
    from experiments.models.version import StudyVersion

#: From which states a study comes into each. A closed study stays closed: its sequence of
#: allocations is no longer sealed, and debriefings that waited for the cohort have gone out.
COMES_FROM = {
    StudyStatus.DRAFT: {StudyStatus.PILOTING},
    StudyStatus.PILOTING: {StudyStatus.DRAFT},
    StudyStatus.OPEN: {StudyStatus.DRAFT, StudyStatus.PILOTING, StudyStatus.OPEN},
    StudyStatus.CLOSED: {StudyStatus.OPEN},
    StudyStatus.ARCHIVED: {StudyStatus.DRAFT, StudyStatus.PILOTING, StudyStatus.CLOSED},
}


class StudyFlow(models.Model):
    """What changes a study's status and freezes its versions; ``Study`` has the fields."""

    status = models.CharField(
        _("status"), max_length=10, choices=StudyStatus.choices, default=StudyStatus.DRAFT
    )

    if TYPE_CHECKING:
        versions: Any
        lab_id: int

        def configuration(self) -> StudyConfiguration: ...

    class Meta:
        abstract = True

    def may_become(self, status: StudyStatus) -> bool:
        return StudyStatus(self.status) in COMES_FROM[status]

    def move_to(self, status: StudyStatus) -> None:
        """Change the status, under a lock; ValidationError where that step isn't there."""
        locked = type(self)._default_manager.select_for_update().get(pk=self.pk)
        self.status = locked.status
        if not self.may_become(status):
            raise ValidationError(
                _now("A study that is “%(now)s” can't become “%(wanted)s”.")
                % {"now": StudyStatus(self.status).label, "wanted": status.label}
            )
        self.status = status
        self.save(update_fields=["status"])

    def running(self) -> StudyVersion | None:
        """The frozen version that new participants get: the one that was opened last."""
        found: StudyVersion | None = (
            self.versions.filter(opened_at__isnull=False).order_by("-opened_at", "-number").first()
        )
        return found

    def version(self) -> StudyVersion:
        """The version new participants get: the last one that was opened, else a snapshot of the
        draft as it stands, made once for each content."""
        if not self._is_draft:
            frozen = self.running()
            if frozen is not None:
                return frozen
        return self.snapshot()

    def shown(self) -> Study | StudyConfiguration:
        """What whoever comes now is shown of the study (title, language, zone): as it was opened
        last, for staff may be editing it since; a draft as it stands."""
        frozen = None if self._is_draft else self.running()
        return cast("Study", self) if frozen is None else frozen.configuration

    @property
    def _is_draft(self) -> bool:
        return self.status in (StudyStatus.DRAFT, StudyStatus.PILOTING)

    def snapshot(self) -> StudyVersion:
        """The draft as it stands, as a version, which is made once for each content."""
        configuration = self.configuration()
        # Numbers are drawn one at a time.
        type(self)._default_manager.select_for_update().get(pk=self.pk)
        last = self.versions.order_by("-number").values_list("number", flat=True).first() or 0
        version: StudyVersion
        version, _created = self.versions.get_or_create(
            sha256=configuration.sha256(),
            defaults={
                "number": last + 1,
                "configuration_json": configuration.as_json(),
                "lab_id": self.lab_id,
            },
        )
        return version

    def open(
        self,
        *,
        user_id: int | None = None,
        reason: str = "",
        overrides: Sequence[Mapping[str, Any]] = (),
    ) -> StudyVersion:
        """Freeze the present configuration for everybody who consents from now on.

        Of a study that is open this is an amendment: participants keep the version of their
        consent. ``overrides`` are the launch checks that failed and were overridden, as
        ``{"check", "reason", "found"}``. One transaction, so that a version is open or isn't.
        """
        before = self.running()
        version = self.snapshot()
        self.move_to(StudyStatus.OPEN)
        version.mark_opened(
            at=timezone.now(),
            user_id=user_id,
            reason=reason,
            overrides=overrides,
            amended_from=None if before is None or before.pk == version.pk else before,
        )
        return version
