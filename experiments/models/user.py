"""Staff accounts. Participants are no users: see ``Participant``."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils.translation import gettext_lazy as _


class UserManager(BaseUserManager["User"]):
    def create_user(self, *, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, *, email: str, password: str, **fields: Any) -> User:
        """An operator of the installation, who may switch labs; there is no god setting."""
        return self.create_user(email=email, password=password, is_operator=True, **fields)


class User(AbstractBaseUser):
    """A member of staff. What they may do comes from their membership of the active lab."""

    email = models.EmailField(_("e-mail"), unique=True)
    name = models.CharField(_("name"), max_length=120, blank=True)
    is_active = models.BooleanField(_("active"), default=True)
    is_operator = models.BooleanField(
        _("operator"),
        default=False,
        help_text=_("Runs this installation: may switch to any lab, and each switch is logged."),
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def is_staff(self) -> bool:
        return self.is_active

    @property
    def is_superuser(self) -> bool:
        """Nobody is: rights come from the membership of a lab."""
        return False

    def has_perm(self, perm: str, obj: object | None = None) -> bool:
        """Model permissions are not used; the admin asks the active membership."""
        return False

    def has_perms(self, perm_list: list[str], obj: object | None = None) -> bool:
        return False

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active

    def get_short_name(self) -> str:
        return self.name or self.email.partition("@")[0]

    def get_full_name(self) -> str:
        return self.name or self.email
