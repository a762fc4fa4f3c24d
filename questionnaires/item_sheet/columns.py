"""The columns of an item sheet and the settings of an instrument, each with its explanation."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

#: Rows of this type hold what belongs to the instrument instead of an item.
SETTING = "setting"

COLUMNS: dict[str, str | Promise] = {
    "code": _("The item's code: a letter, then letters, digits and _. Of a setting, its name."),
    "type": _(
        "likert, single, multiple, slider, differential, picture, number, text or date; or setting."
    ),
    "page": _("The page, counted from 1. Empty: the page of the item before."),
    "text_en": _("The item in English. Of a setting, its value."),
    "text_zh": _("The item in Chinese."),
    "minimum": _("The least answer of a likert, slider, differential or number item."),
    "maximum": _("The greatest one."),
    "step": _("From one answer of a slider or number to the next. Empty: 1."),
    "low_en": _("What the low end of a scale is called in English."),
    "low_zh": _("The same in Chinese."),
    "high_en": _("What the high end is called in English."),
    "high_zh": _("The same in Chinese."),
    "options_en": _(
        "Choices, or names of a scale's points, in English: 1=never | 2=sometimes | 3=often."
    ),
    "options_zh": _("The same in Chinese, with the same numbers."),
    "reverse": _("yes: scored the other way round."),
    "subscale": _("The score that the item belongs to. Empty everywhere: all scales make one."),
    "required": _("no: may be skipped. Empty: yes."),
    "expected": _("Makes it an attention check: the one right answer. It is in no score."),
    "condition": _("Shown only if, e.g. mood_1 >= 4 or pet in 1, 3."),
}

SETTINGS: dict[str, str | Promise] = {
    "key": _("The instrument's key. An instrument with this key is changed, else one is made."),
    "title": _("Its title, in English and in Chinese."),
    "introduction": _("What stands above its first item, in both languages."),
    "citation": _("The scale that this is, or that it stands for."),
    "validated": _("yes: a validated wording. Empty: no."),
    "randomised": _("yes: random order of the items within their page. Empty: no."),
    "score": _("mean or sum. Empty: mean."),
    "missing": _("none or share: what happens to a score with missing answers. Empty: none."),
    "missing_share": _("With share: which share of the items must be answered, such as 0.75."),
}
#: Settings with a text in each language; the others have one value, in ``text_en``.
BILINGUAL = ("title", "introduction")
YES = frozenset({"yes", "true", "1", "y", "是"})
NO = frozenset({"no", "false", "0", "n", "否", ""})
