"""Small charts as SVG: bars that can be compared, lines over steps, curves over time. Pure; text is
escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape

#: Colours that differ in lightness too, for print and for colour-blind readers.
COLOURS = (
    "#1b6ca8", "#c8553d", "#3c8d53", "#8a5fb0", "#b08900", "#5b6470",
    "#0f9d9d", "#d4719a", "#6b8e23", "#34495e", "#e08e45", "#7f7fd5",
)  # fmt: skip


def colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def bars(values: Sequence[tuple[str, float | None]], *, most: float, shown: str = "{:.3f}") -> str:
    """Horizontal bars, one a label; ``most`` is the length of a full one. None is told as –."""
    height, left, width = 22, 190, 620
    rows = []
    for number, (label, value) in enumerate(values):
        middle = number * height + 15
        rows.append(f'<text x="{left - 8}" y="{middle}" text-anchor="end">{escape(label)}</text>')
        if value is None:
            rows.append(f'<text x="{left}" y="{middle}" class="none">–</text>')
            continue
        length = 0.0 if most <= 0 else max(0.0, min(1.0, value / most)) * (width - left - 70)
        rows.append(
            f'<rect x="{left}" y="{middle - 12}" width="{length:.1f}" height="16" rx="2" '
            f'fill="{colour(number)}"/>'
            f'<text x="{left + length + 6:.1f}" y="{middle}">{escape(shown.format(value))}</text>'
        )
    return _svg(width, height * len(values) + 6, rows)


def lines(series: Mapping[str, Sequence[float]], *, numbered: Sequence[str] = ()) -> str:
    """One line a series over the same steps (sessions), from 0; ``numbered`` labels the steps."""
    width, height, left, right, top, bottom = 620, 240, 44, 150, 12, 26
    steps = max((len(values) for values in series.values()), default=0)
    most = max((value for values in series.values() for value in values), default=0.0) or 1.0
    wide, high = width - left - right, height - top - bottom

    def place(step: int, value: float) -> tuple[float, float]:
        across = wide * step / max(1, steps - 1)
        return left + across, top + high * (1 - value / most)

    drawn = [
        f'<line x1="{left}" y1="{top + high}" x2="{left + wide}" y2="{top + high}" class="axis"/>',
        f'<text x="{left - 6}" y="{top + 8}" text-anchor="end">{most:g}</text>',
        f'<text x="{left - 6}" y="{top + high}" text-anchor="end">0</text>',
    ]
    for step, label in enumerate(numbered):
        if step in (0, len(numbered) - 1):
            across = place(step, 0)[0]
            drawn.append(
                f'<text x="{across:.1f}" y="{height - 8}" text-anchor="middle">'
                f"{escape(label)}</text>"
            )
    for number, (label, values) in enumerate(series.items()):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, range(len(values)), values))
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour(number)}" stroke-width="2"/>'
        )
        low = top + 12 + 15 * number
        drawn.append(
            f'<rect x="{left + wide + 12}" y="{low - 8}" width="10" height="10" '
            f'fill="{colour(number)}"/>'
            f'<text x="{left + wide + 27}" y="{low + 1}">{escape(label)}</text>'
        )
    return _svg(width, max(height, top + 20 + 15 * len(series)), drawn)


def curves(
    series: Mapping[str, Sequence[tuple[datetime, float]]],
    *,
    least: float,
    most: float,
    marks: Sequence[tuple[str, float]] = (),
    levels: Sequence[str] = (),
) -> str:
    """Values over time, joined by straight lines; a step is two points at one moment.

    ``marks`` are horizontal lines with a label. ``levels`` name the whole numbers from 0 on, in
    place of the axis' two ends.
    """
    width, height, left, right, top, bottom = 680, 240, 84, 130, 12, 26
    moments = [at for points in series.values() for at, _value in points]
    if not moments:
        return ""
    first, last = min(moments), max(moments)
    span = (last - first).total_seconds() or 1.0
    wide, high = width - left - right, height - top - bottom

    def across(at: datetime) -> float:
        return left + wide * (at - first).total_seconds() / span

    def down(value: float) -> float:
        return top + high * (1 - (value - least) / ((most - least) or 1.0))

    ticks: list[tuple[float, str]] = [*enumerate(levels)] or [
        (least, f"{least:g}"),
        (most, f"{most:g}"),
    ]
    drawn = [
        f'<text x="{left - 8}" y="{down(value) + 4:.1f}" text-anchor="end">{escape(label)}</text>'
        for value, label in ticks
    ]
    drawn.append(
        f'<line x1="{left}" y1="{top + high}" x2="{left + wide}" y2="{top + high}" class="axis"/>'
    )
    for at, anchor in ((first, "start"), (last, "end")):
        drawn.append(
            f'<text x="{across(at):.1f}" y="{height - 8}" text-anchor="{anchor}">'
            f"{at:%Y-%m-%d}</text>"
        )
    for label, value in marks:
        drawn.append(
            f'<line x1="{left}" y1="{down(value):.1f}" x2="{left + wide}" y2="{down(value):.1f}" '
            f'class="mark" stroke-dasharray="4 4"/>'
            f'<text x="{left + wide + 8}" y="{down(value) + 4:.1f}" class="none">'
            f"{escape(label)}</text>"
        )
    for number, (label, points) in enumerate(series.items()):
        path = " ".join(f"{across(at):.1f},{down(value):.1f}" for at, value in points)
        drawn.append(
            f'<polyline points="{path}" fill="none" stroke="{colour(number)}" stroke-width="2">'
            f"<title>{escape(label)}</title></polyline>"
        )
    return _svg(width, height, drawn)


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
