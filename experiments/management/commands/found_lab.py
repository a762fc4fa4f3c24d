"""Found a lab and its first owner."""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction

from experiments.enums import MemberRole
from experiments.models import Lab, Member, User


class Command(BaseCommand):
    help = "Found a lab. Its owner's account is made if there is none, with a password shown once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--owner", required=True, help="The owner's e-mail address.")

    def handle(self, *args: Any, **options: Any) -> None:
        email = User.objects.normalize_email(options["owner"])
        try:
            validate_email(email)
        except ValidationError:
            raise CommandError(f"{email!r} is no e-mail address.") from None
        with transaction.atomic():
            owner = User.objects.filter(email=email).first()
            password = None
            if owner is None:
                password = secrets.token_urlsafe(12)
                owner = User.objects.create_user(email=email, password=password)
            lab = Lab.objects.found(name=options["name"])
            Member.objects.create(
                user=owner, lab_id=lab.pk, role=MemberRole.OWNER, may_unblind=True
            )
        self.stdout.write(f"Lab {lab.pk} “{lab.name}” is founded; {email} owns it.")
        if password is not None:
            self.stdout.write(f"Their password, shown this once: {password}")
