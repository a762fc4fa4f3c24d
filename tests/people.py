"""The staff that tests know: Alice owns a lab, Bob assists, Erin researches, Dora analyses, and
Charlie owns another lab."""

from __future__ import annotations

from django.test import Client

from experiments.enums import MemberRole
from experiments.models import Lab, Member, User

PASSWORD = "correct-horse-7-battery"
ROLES = {
    "Alice": (MemberRole.OWNER, True),
    "Bob": (MemberRole.ASSISTANT, False),
    "Charlie": (MemberRole.OWNER, True),
    "Dora": (MemberRole.ANALYST, False),
    "Erin": (MemberRole.RESEARCHER, False),
}


def person(name: str, *, operator: bool = False) -> User:
    """A user, made once, who signs in as ``name@example.org``."""
    email = f"{name.lower()}@example.org"
    user = User.objects.filter(email=email).first()
    return user or User.objects.create_user(
        email=email, name=name, password=PASSWORD, is_operator=operator
    )


def member(name: str, lab: Lab, role: MemberRole | None = None) -> Member:
    """``name`` as a member of the lab, with the role they are known for."""
    usual, may_unblind = ROLES[name]
    return Member.objects.create(
        user=person(name), lab_id=lab.pk, role=role or usual, may_unblind=may_unblind
    )


def browser_of(user: User) -> Client:
    """A browser that is signed in."""
    client = Client()
    client.force_login(user)
    return client


def signed_in(name: str, lab: Lab) -> Client:
    """A browser of ``name``, who is a member of ``lab``."""
    existing = Member.objects.filter(user=person(name), lab_id=lab.pk).first()
    return browser_of((existing or member(name, lab)).user)
