"""Labs, which are the tenants, and who is a member of which."""

from __future__ import annotations

from django.conf import settings
from django.db import connection, models
from django.utils.translation import gettext_lazy as _

from experiments.enums import Language, MemberRole
from memlab.core.tenancy import lab_scope, require_lab


class LabManager(models.Manager["Lab"]):
    """Shows the active lab only."""

    def get_queryset(self) -> models.QuerySet[Lab]:
        return super().get_queryset().filter(pk=require_lab("a lab"))

    def found(self, *, name: str, **fields: object) -> Lab:
        """Create a lab. Its id is drawn first, for its own policy admits only the active lab."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT nextval(pg_get_serial_sequence('experiments_lab', 'id'))")
            lab_id = cursor.fetchone()[0]
        with lab_scope(lab_id):
            lab = Lab(pk=lab_id, name=name, **fields)
            lab.save(force_insert=True)
        LabDirectory.objects.create(lab_id=lab_id)
        return lab


class Lab(models.Model):
    tenant_column = "pk"

    name = models.CharField(_("name"), max_length=120)
    language = models.CharField(
        _("language"), max_length=8, choices=Language.choices, default=Language.ENGLISH
    )
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = LabManager()

    class Meta:
        verbose_name = _("lab")
        verbose_name_plural = _("labs")
        base_manager_name = "objects"

    def __str__(self) -> str:
        return self.name


class LabDirectory(models.Model):
    """Which labs there are: ids only, readable before a lab is known."""

    lab_id = models.BigIntegerField(primary_key=True)

    def __str__(self) -> str:
        return str(self.lab_id)


class Member(models.Model):
    """A user's place in a lab. Outside the policies, for it is what finds the lab."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    lab_id = models.BigIntegerField(_("lab"))
    role = models.CharField(_("role"), max_length=12, choices=MemberRole.choices)
    may_unblind = models.BooleanField(
        _("may unblind"),
        default=False,
        help_text=_("May see arms, receipts and memories. Each unblinding is logged."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [models.UniqueConstraint(fields=["user", "lab_id"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"
