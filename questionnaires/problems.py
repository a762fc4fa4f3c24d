"""A problem of an instrument, with its place and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

from questionnaires.content import InstrumentContent

#: Codes of items and names of subscales: columns of every statistics package can be called so.
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that must be put right. ``item`` is the index of the item, None for the instrument
    itself; ``field`` is named as the column of a sheet (``text_en``, ``options_zh``, …)."""

    item: int | None
    field: str
    wrong: str
    remedy: str

    def told(self, content: InstrumentContent) -> str:
        """One sentence with the place: which instrument, which item, which field."""
        place = [content.key]
        if self.item is not None:
            code = content.items[self.item].code
            place.append(_("item %(code)s") % {"code": code or self.item + 1})
        return f"{', '.join(place)}, {self.field}: {self.wrong} {self.remedy}"
