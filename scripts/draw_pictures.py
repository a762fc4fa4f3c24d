"""Draw the pictures of the closeness scale: two circles that overlap more and more.

    python scripts/draw_pictures.py

What two circles have in common grows by the same share of their area from picture to picture
(``questionnaires.surveyjs.overlap``). The files are in the repository; a test draws them again.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "questionnaires" / "static" / "questionnaires" / "pictures"
NAMES = {"en": ("You", "AI"), "zh": ("我", "AI")}
RADIUS, WIDTH, HEIGHT, COUNT = 46.0, 200.0, 104.0, 7


def common_share(distance: float) -> float:
    """Which share of a circle of radius 1 another one covers whose centre is so far away."""
    if distance >= 2:
        return 0.0
    lens = 2 * math.acos(distance / 2) - distance / 2 * math.sqrt(4 - distance**2)
    return lens / math.pi


def distance_for(share: float) -> float:
    """The distance, in radii, at which two circles share that much; by halving the interval."""
    near, far = 0.0, 2.0
    for _step in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if common_share(middle) > share else (near, middle)
    return near if share else 2.0


def picture(share: float, names: tuple[str, str]) -> str:
    """One picture as SVG."""
    half = RADIUS * distance_for(share) / 2
    left, right, middle = WIDTH / 2 - half, WIDTH / 2 + half, HEIGHT / 2
    inwards = RADIUS * 0.5
    circle = f'cy="{middle:g}" r="{RADIUS:g}" fill-opacity="0.6" stroke-width="2.5"'
    text = f'y="{middle + 6:g}" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'width="{WIDTH:g}" height="{HEIGHT:g}">\n'
        f'  <circle cx="{left:.2f}" {circle} fill="#cfe0ea" stroke="#1d4e6b"/>\n'
        f'  <circle cx="{right:.2f}" {circle} fill="#f3e2bd" stroke="#7a5600"/>\n'
        '  <g font-family="system-ui, sans-serif" font-size="17" font-weight="600" '
        'fill="#1f2a33">\n'
        f'    <text x="{left - inwards:.2f}" {text}>{names[0]}</text>\n'
        f'    <text x="{right + inwards:.2f}" {text}>{names[1]}</text>\n'
        "  </g>\n"
        "</svg>\n"
    )


def drawn() -> dict[str, str]:
    """Every file's name and text."""
    from questionnaires.surveyjs import overlap

    return {
        f"closeness-{number}-{language}.svg": picture(overlap(number), names)
        for language, names in NAMES.items()
        for number in range(1, COUNT + 1)
    }


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in drawn().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
