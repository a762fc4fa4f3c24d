"""The reader of translatable texts, held against small sources."""

import polib
import pytest

from scripts.translations import (
    Text,
    borrowed_texts,
    by_text,
    texts_in_code,
    texts_in_template,
    trouble_with,
    unused,
)


def test_code_gives_its_texts_with_context_and_plural() -> None:
    source = (
        "_('One')\n"
        "gettext_lazy('Two ' 'halves')\n"
        "translation.pgettext('month', 'May')\n"
        "ngettext('%(n)s day', '%(n)s days', n)\n"
        "_(given)\n"
        "print('not this')\n"
    )
    assert set(texts_in_code(source, "a.py")) == {
        Text(None, "One"),
        Text(None, "Two halves"),
        Text("month", "May"),
        Text(None, "%(n)s day", "%(n)s days"),
    }


def test_code_may_give_the_functions_names_of_its_own() -> None:
    source = (
        "from django.utils.translation import gettext as _now, ngettext as _n\n"
        "_now('Now')\n"
        "_n('a day', 'days', 3)\n"
    )
    assert set(texts_in_code(source, "a.py")) == {Text(None, "Now"), Text(None, "a day", "days")}


def test_entry_that_nothing_asks_for_is_unused() -> None:
    catalogue = polib.POFile()
    kept, of_other_context = polib.POEntry(msgid="May"), polib.POEntry(msgid="May", msgctxt="month")
    catalogue.extend([kept, of_other_context])
    assert unused(catalogue, {Text(None, "May")}) == [of_other_context]


def test_a_text_with_a_context_does_not_stand_for_the_same_text_without_one() -> None:
    catalogue = polib.POFile()
    catalogue.append(polib.POEntry(msgid="May", msgctxt="month", msgstr="五月"))
    assert (None, "May") not in by_text(catalogue)
    assert ("month", "May") in by_text(catalogue)


def test_package_without_chinese_is_given_ours_and_django_keeps_its_own() -> None:
    borrowed = borrowed_texts()
    assert Text(None, "Reset filters") in borrowed
    assert Text(None, "Filters") in borrowed  # Django's Chinese for it isn't installed
    assert Text(None, "Delete") not in borrowed


@pytest.mark.parametrize("call", ["_(f'Hello {name}')", "_('Hello ' + name)", "_('%s' % name)"])
def test_text_put_together_at_run_time_is_refused_with_its_place(call: str) -> None:
    with pytest.raises(SystemExit, match=r"a\.py:0001: a text to translate must be one literal"):
        list(texts_in_code(call, "a.py"))


def test_template_gives_its_texts_as_django_asks_for_them() -> None:
    source = (
        '{% load i18n %}<p title="{% translate "It\'s you" %}">{{ name|default:_("Nobody") }}</p>'
        "{% blocktranslate trimmed with name=user.name %}\n  Hello\n  {{ name }}\n"
        "{% endblocktranslate %}"
        "{% blocktranslate count n=days %}{{ n }} day{% plural %}{{ n }} days"
        "{% endblocktranslate %}"
        '{% translate "May" context "month" %}'
    )
    assert set(texts_in_template(source, "a.html")) == {
        Text(None, "It's you"),
        Text(None, "Nobody"),
        Text(None, "Hello %(name)s"),
        Text(None, "%(n)s day", "%(n)s days"),
        Text("month", "May"),
    }


@pytest.mark.parametrize(
    ("entry", "trouble"),
    [
        (None, "not in the catalogue"),
        (polib.POEntry(msgid="Day %(n)s", msgstr=""), "not translated"),
        (polib.POEntry(msgid="Day %(n)s", msgstr="第%(n)s天", flags=["fuzzy"]), "marked fuzzy"),
        (polib.POEntry(msgid="Day %(n)s", msgstr="第天"), "the placeholders of '第天' differ"),
        (polib.POEntry(msgid="Day %(n)s", msgstr="第%(n)s天"), None),
    ],
)
def test_translation_is_judged(entry: polib.POEntry | None, trouble: str | None) -> None:
    assert trouble_with(Text(None, "Day %(n)s"), entry) == trouble


def test_chinese_plural_may_do_without_the_singulars_words() -> None:
    entry = polib.POEntry(msgid="one day", msgid_plural="%(n)s days", msgstr_plural={0: "%(n)s 天"})
    assert trouble_with(Text(None, "one day", "%(n)s days"), entry) is None
