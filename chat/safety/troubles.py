"""What a study lacks of the people and numbers that somebody in danger needs."""

from __future__ import annotations

from django.utils.translation import gettext as _

from chat.safety.hotlines import parsed
from experiments.models import Study


def safety_troubles(study: Study) -> list[str]:
    """Why the study can't open yet, in words; empty when nothing is missing."""
    found, bad = parsed(study.hotlines)
    troubles = []
    if not study.safety_contact_name.strip() or not study.safety_contact_email.strip():
        troubles.append(_("There is no safety contact: give a name and an e-mail address."))
    if not found:
        troubles.append(
            _("There is no hotline: write at least one line as “name | number | when”.")
        )
    troubles += [
        _("Hotlines, line %(place)s can't be read: “%(line)s”. Write “name | number | when”.")
        % {"place": each.place, "line": each.line}
        for each in bad
    ]
    return troubles
