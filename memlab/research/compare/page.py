"""The page: figures as tables and bars, memories over time, and what each arm knew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from memlab.core import charts
from memlab.research.compare.reports import Arm, Row
from memlab.research.compare.style import SCRIPT, STYLE
from memlab.research.compare.wording import TEXTS
from memlab.research.replay.probes import DEPTHS

#: Heading, its explanation's key if it has one, how to read it from an arm, how to show it.
Column = tuple[str, str | None, Callable[[Arm], float | None], str]


def page(arms: Sequence[Arm], *, probes: int) -> str:
    """One HTML document in both languages; ``probes`` is how many questions a dialogue shows."""
    body = [
        f"<header><h1>{say('title')}</h1>"
        f"<button type='button' id='language'>{say('language')}</button>"
        f"<p>{say('lead')}</p><p class='note'>{say('warning')}</p></header>",
        f"<section><h2>{say('overview')}</h2>{_table(arms)}{_charts(arms)}</section>",
        f"<section><h2>{say('each')}</h2>{''.join(_dialogues(arms, probes))}</section>",
        f"<section><h2>{say('runs')}</h2>{_runs(arms)}</section>",
    ]
    return (
        '<!doctype html>\n<html lang="en" data-language="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(TEXTS['title'][0])} · {escape(TEXTS['title'][1])}</title>"
        f"<style>{STYLE}</style></head><body>{''.join(body)}<script>{SCRIPT}</script></body></html>\n"
    )


def say(key: str, *values: object) -> str:
    """A text in both languages, of which the page shows one."""
    english, chinese = TEXTS[key]
    told = [escape(str(value)) for value in values]
    return (
        f'<span lang="en">{escape(english).format(*told)}</span>'
        f'<span lang="zh-Hans">{escape(chinese).format(*told)}</span>'
    )


def _columns() -> list[Column]:
    return [
        ("coverage", "coverage_help", Arm.coverage, "{:.3f}"),
        ("tokens", None, lambda arm: arm.mean("prompt_tokens", "mean"), "{:,.0f}"),
        ("tokens_p95", None, lambda arm: arm.mean("prompt_tokens", "p95"), "{:,.0f}"),
        ("latency", "latency_help", lambda arm: arm.mean("recall_ms", "p50"), "{:.1f}"),
        ("latency_p95", "latency_help", lambda arm: arm.mean("recall_ms", "p95"), "{:.1f}"),
    ]


def _table(arms: Sequence[Arm]) -> str:
    heads = [say("arm"), say("report"), say("dialogues"), say("turns"), say("probes")]
    heads += [_explained(say(key), hint) for key, hint, _read, _shown in _columns()[:1]]
    heads += [_explained(say("recall", depth), "recall_help") for depth in DEPTHS]
    heads += [_explained(say(key), hint) for key, hint, _read, _shown in _columns()[1:]]
    heads.append(say("degraded"))
    rows = "".join(f"<tr>{_cells(arm)}</tr>" for arm in arms)
    head = "".join(f"<th scope='col'>{each}</th>" for each in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div class='wide'>{table}</div>"


def _explained(heading: str, hint: str | None) -> str:
    if hint is None:
        return heading
    return f"<details><summary>{heading}</summary><p>{say(hint)}</p></details>"


def _cells(arm: Arm) -> str:
    first, *others = _columns()
    figures = [_figure(first[2](arm), first[3])]
    figures += [_figure(arm.recalled(depth), "{:.3f}") for depth in DEPTHS]
    figures += [_figure(read(arm), shown) for _key, _hint, read, shown in others]
    figures.append(str(arm.total("degraded")))
    counts = [str(len(arm.rows)), f"{arm.total('turns'):,}", f"{arm.total('probes'):,}"]
    told = f"<th scope='row'>{escape(arm.architecture)}</th><td>{escape(arm.report)}</td>"
    return told + "".join(f"<td class='figure'>{each}</td>" for each in [*counts, *figures])


def _figure(value: float | None, shown: str) -> str:
    return "–" if value is None else shown.format(value)


def _charts(arms: Sequence[Arm]) -> str:
    labels = labels_of(arms)
    drawn = []
    for key, hint, read, shown in (
        _columns()[0],
        ("recall", "recall_help", lambda arm: arm.recalled(10), "{:.3f}"),
        *_columns()[1:2],
        *_columns()[4:5],
    ):
        values = [(label, read(arm)) for label, arm in zip(labels, arms, strict=True)]
        if all(value is None for _label, value in values):
            continue  # dialogues without evidence
        share = key in ("coverage", "recall")
        most = 1.0 if share else max((value or 0.0 for _label, value in values), default=0.0)
        heading = say(key, 10) if key == "recall" else say(key)
        caption = f"<figcaption>{heading}</figcaption>"
        note = f"<p class='note'>{say(hint)}</p>" if hint else ""
        drawn.append(
            f"<figure>{caption}{charts.bars(values, most=most, shown=shown)}{note}</figure>"
        )
    return f"<div class='charts'>{''.join(drawn)}</div>"


def labels_of(arms: Sequence[Arm]) -> list[str]:
    """An arm's key, with its report's name where there are several."""
    several = len({arm.report for arm in arms}) > 1
    return [f"{arm.architecture} · {arm.report}" if several else arm.architecture for arm in arms]


def _dialogues(arms: Sequence[Arm], probes: int) -> list[str]:
    ids = dict.fromkeys(row["dialogue"] for arm in arms for row in arm.rows)
    return [_dialogue(dialogue, arms, probes) for dialogue in ids]


def _dialogue(dialogue: str, arms: Sequence[Arm], probes: int) -> str:
    rows = [arm.row(dialogue) for arm in arms]
    labels = labels_of(arms)
    return (
        f"<details class='dialogue'><summary>{escape(dialogue)}</summary>"
        f"<h3>{say('memories')}</h3>{_memories(labels, rows)}"
        f"<h3>{say('knew')}</h3>{_knew(labels, rows, probes)}</details>"
    )


def _memories(labels: Sequence[str], rows: Sequence[Row | None]) -> str:
    series = {
        label: [float(sum(moment["counts"].values())) for moment in row["memories"]]
        for label, row in zip(labels, rows, strict=True)
        if row is not None and any(moment["counts"] for moment in row.get("memories", ()))
    }
    if not series:
        return f"<p>{say('no_memories')}</p>"
    steps = max(map(len, series.values()))
    return charts.lines(series, numbered=[str(number) for number in range(1, steps + 1)])


def _knew(labels: Sequence[str], rows: Sequence[Row | None], probes: int) -> str:
    told = [(label, row) for label, row in zip(labels, rows, strict=True) if row and "asked" in row]
    if not told:
        return f"<p>{say('missing')}</p>"
    questions = [asked["question"] for asked in told[0][1]["asked"]]
    parts = []
    if len(questions) > probes:
        parts.append(f"<p class='note'>{say('first', probes, len(questions))}</p>")
    for number, question in enumerate(questions[:probes]):
        cards = "".join(_card(label, row["asked"], number) for label, row in told)
        parts.append(
            f"<details class='probe'><summary>{number + 1}. {escape(question)}</summary>"
            f"<div class='cards'>{cards}</div></details>"
        )
    return "".join(parts)


def _card(label: str, asked: Sequence[dict[str, Any]], number: int) -> str:
    if number >= len(asked):
        return f"<article><h4>{escape(label)}</h4><p>{say('missing')}</p></article>"
    probe = asked[number]
    coverage = _figure(probe["coverage"], "{:.2f}")
    sections = "".join(_section(section) for section in probe["knew"])
    empty = f"<p>{say('nothing')}</p>"
    return (
        f"<article><h4>{escape(label)}</h4><p class='note'>{say('coverage')}: {coverage} · "
        f"{say('tokens')}: {probe['prompt_tokens']}</p>{sections or empty}</article>"
    )


def _section(section: dict[str, Any]) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in section["lines"])
    more = f"<li class='note'>{say('more', section['more'])}</li>" if section["more"] else ""
    return f"<h5>{escape(section['title'])}</h5><ul>{lines}{more}</ul>"


def _runs(arms: Sequence[Arm]) -> str:
    told = []
    for label, arm in zip(labels_of(arms), arms, strict=True):
        row = arm.rows[0]
        parameters = ", ".join(
            f"{escape(name)} = {escape(str(value))}"
            for name, value in row.get("parameters", {}).items()
        )
        models = " · ".join(escape(str(row[key])) for key in ("llm", "embedder") if key in row)
        told.append(f"<dt>{escape(label)}</dt><dd>{models}<br><small>{parameters}</small></dd>")
    return f"<dl>{''.join(told)}</dl>"
