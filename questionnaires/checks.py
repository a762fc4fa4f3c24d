"""What keeps an instrument from being asked: every problem at once, each with its place. Pure.

Publishing refuses whatever has a problem, and so does the import of a sheet; a draft may have some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from questionnaires.checks_of_items import problems_of_item
from questionnaires.content import InstrumentContent, ItemContent, Text
from questionnaires.enums import ScoreKind
from questionnaires.problems import Problem

LANGUAGES = ("en", "zh")
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
MAXIMUM_ITEMS = 300
#: Characters that a text may have at most, by field: as many as a column or a phone takes.
LENGTHS = {
    "title": 200,
    "introduction": 4000,
    "citation": 4000,
    "text": 2000,
    "low": 120,
    "high": 120,
    "options": 200,
}
#: Line breaks and tabs are words' own; the other control characters break files and databases.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def problems(content: InstrumentContent) -> tuple[Problem, ...]:
    """All problems of an instrument: its own first, then item by item."""
    found = [*_of_instrument(content), *_languages(content)]
    for index in range(len(content.items)):
        found += problems_of_item(content, index)
    return (*found, *_of_subscales(content))


def languages_of(content: InstrumentContent) -> tuple[str, ...]:
    """The languages in which there is any text, of ``LANGUAGES``."""
    return tuple(
        language
        for language in LANGUAGES
        if any(getattr(text, language).strip() for _index, _field, text in _texts(content))
    )


def complete_in(content: InstrumentContent, language: str) -> bool:
    """Whether every text that a participant reads is there in ``language`` ("en" or "zh-hans")."""
    return not list(_missing(content, "zh" if language.startswith("zh") else "en"))


def _texts(content: InstrumentContent) -> Iterator[tuple[int | None, str, Text]]:
    """Every text that a participant reads, with its place."""
    yield None, "title", content.title
    yield None, "introduction", content.introduction
    for index, item in enumerate(content.items):
        yield index, "text", item.text
        yield index, "low", item.low
        yield index, "high", item.high
        for option in item.options:
            yield index, "options", option.label


def _missing(content: InstrumentContent, language: str) -> Iterator[tuple[int | None, str]]:
    """Places that lack a text in ``language``: items' texts always, others where the other
    language has one."""
    for index, field, text in _texts(content):
        needed = field in ("title", "text") or text.en.strip() or text.zh.strip()
        if needed and not getattr(text, language).strip():
            yield index, field


def _languages(content: InstrumentContent) -> Iterator[Problem]:
    """Whole in each language in which it has begun; with none at all, English stands for it."""
    names = {"en": _("English"), "zh": _("Chinese")}
    for language in languages_of(content) or ("en",):
        for index, field in dict.fromkeys(_missing(content, language)):
            yield Problem(
                item=index,
                field=f"{field}_{language}",
                wrong=_("There is no text in %(language)s.") % {"language": names[language]},
                remedy=_(
                    "Write it (of a licensed scale, paste the wording you have the licence for), "
                    "or leave this language empty everywhere."
                ),
            )
    for index, field, text in _texts(content):
        for language in LANGUAGES:
            yield from _wording(index, f"{field}_{language}", field, getattr(text, language))
    yield from _wording(None, "citation", "citation", content.citation)


def _wording(index: int | None, place: str, field: str, words: str) -> Iterator[Problem]:
    if len(words) > LENGTHS[field]:
        yield Problem(
            item=index,
            field=place,
            wrong=_("%(count)s characters are too many.") % {"count": len(words)},
            remedy=_("At most %(limit)s fit here.") % {"limit": LENGTHS[field]},
        )
    if CONTROL.search(words):
        yield Problem(
            item=index,
            field=place,
            wrong=_("There is an invisible control character in it."),
            remedy=_("Type the text anew, or paste it as plain text."),
        )


def _of_instrument(content: InstrumentContent) -> Iterator[Problem]:
    if not KEY.fullmatch(content.key):
        yield Problem(
            item=None,
            field="key",
            wrong=_("“%(key)s” is no key.") % {"key": content.key},
            remedy=_("Use a letter, then letters, digits, - and _, at most 40, such as trust."),
        )
    if not content.items:
        yield Problem(
            item=None,
            field="code",
            wrong=_("There is no item."),
            remedy=_("An instrument needs one at least."),
        )
    if len(content.items) > MAXIMUM_ITEMS:
        yield Problem(
            item=None,
            field="code",
            wrong=ngettext(
                "%(count)s item is too many.", "%(count)s items are too many.", len(content.items)
            )
            % {"count": len(content.items)},
            remedy=_("Split it: at most %(limit)s.") % {"limit": MAXIMUM_ITEMS},
        )
    if not 0 < content.missing_share <= 1:
        yield Problem(
            item=None,
            field="missing_share",
            wrong=_("%(share)s is no share.") % {"share": f"{content.missing_share:g}"},
            remedy=_("Use a number above 0 and up to 1, such as 0.75."),
        )


def _of_subscales(content: InstrumentContent) -> Iterator[Problem]:
    """A mean of answers on different ranges would weigh them by their ranges."""
    if content.score != ScoreKind.MEAN:
        return
    first: dict[str, ItemContent] = {}
    for index, item in enumerate(content.items):
        if not item.subscale or item.bounds is None:
            continue
        other = first.setdefault(item.subscale, item)
        if item.bounds != other.bounds:
            yield Problem(
                item=index,
                field="subscale",
                wrong=_("In the subscale %(subscale)s this item has another range than %(other)s.")
                % {"subscale": item.subscale, "other": other.code},
                remedy=_("Give them one range, or put the item into a subscale of its own."),
            )
