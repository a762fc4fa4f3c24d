"""What a homeostatic memory says in a prompt, in both languages. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from memlab.core.llm.tokens import count_tokens
from memlab.core.values import Role, Section
from memory.architectures.wording import Wording
from memory.binned_search import Found
from memory.enums import Bin
from memory.formulas.regulation import Behaviour
from memory.models import LoggedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class BinWording:
    """Titles, labels and line formats of one language."""

    titles: Mapping[Bin, str]
    example: str
    summary: str
    behaviour: str
    inclinations: Mapping[str, str]
    degrees: tuple[str, str, str]


ENGLISH = BinWording(
    titles={
        Bin.FACT: "Facts you know about the user",
        Bin.RELATION: "What to mind in talking with the user",
        Bin.AFFECT: "What moves the user",
        Bin.STYLE: "How you spoke before, in the states closest to your present one",
    },
    example="Example {}:",
    summary="Your manner before, in the states closest to your present one",
    behaviour="How you are inclined at the moment",
    inclinations={
        "initiative": "initiative",
        "warmth": "warmth",
        "patience": "patience",
        "verbosity": "length of your replies",
        "directness": "directness",
        "defensiveness": "defensiveness",
        "curiosity": "curiosity",
        "boundary_strength": "firmness about boundaries",
    },
    degrees=("low", "middling", "high"),
)

CHINESE = BinWording(
    titles={
        Bin.FACT: "你所知道的关于用户的事实",
        Bin.RELATION: "与用户交谈时要留意的事",
        Bin.AFFECT: "触动用户的事",
        Bin.STYLE: "你以前说的话（取自与你当前最接近的状态）",
    },
    example="示例 {}：",
    summary="你以前说话的方式（取自与你当前最接近的状态）",
    behaviour="你此刻的行为倾向",
    inclinations={
        "initiative": "主动性",
        "warmth": "亲切",
        "patience": "耐心",
        "verbosity": "话量",
        "directness": "直率",
        "defensiveness": "防备心",
        "curiosity": "好奇心",
        "boundary_strength": "对界限的坚持",
    },
    degrees=("低", "中", "高"),
)


def bin_wording(language: str) -> BinWording:
    """The wording of a study's language, ``zh-hans`` or ``en``."""
    return {"en": ENGLISH, "zh-hans": CHINESE}[language]


def bin_sections(
    items: Sequence[Found], *, words: BinWording, wording: Wording, provenance: bool
) -> list[Section]:
    """A section for each bin of facts, relations and affects that has items, best first."""
    sections = []
    for bin_ in (Bin.FACT, Bin.RELATION, Bin.AFFECT):
        lines = tuple(
            f"- {_source(item, wording) if provenance else ''}{item.text}"
            for item in items
            if item.bin is bin_
        )
        if lines:
            sections.append(Section(key=f"bin_{bin_}", title=words.titles[bin_], lines=lines))
    return sections


def _source(item: Found, wording: Wording) -> str:
    shown = "" if item.relevance is None else f" {wording.relevance.format(item.relevance)}"
    return f"[{item.stage}]{shown} "


def example_section(
    turns: Sequence[LoggedTurn], *, words: BinWording, wording: Wording
) -> Section | None:
    """Turns word for word, as examples of style; None without any."""
    lines: list[str] = []
    for number, turn in enumerate(turns, start=1):
        lines.append(words.example.format(number))
        lines.append(wording.spoken(Role.PARTICIPANT, turn.said))
        lines.append(wording.spoken(Role.ASSISTANT, turn.answered))
    if not lines:
        return None
    return Section(key="style_examples", title=words.titles[Bin.STYLE], lines=tuple(lines))


def summary_section(styles: Sequence[Found], *, words: BinWording, tokens: int) -> Section | None:
    """What the examples have in common, in a line each, as many as fit; None if none does."""
    lines: list[str] = []
    for text in dict.fromkeys(style.text for style in styles):
        if count_tokens("\n".join([*lines, f"- {text}"])) > tokens:
            break
        lines.append(f"- {text}")
    if not lines:
        return None
    return Section(key="style_summary", title=words.summary, lines=tuple(lines))


def fits(section: Section, tokens: int) -> bool:
    """Whether a section's lines stay within a budget."""
    return count_tokens("\n".join(section.lines)) <= tokens


def behaviour_section(shown: Behaviour, *, words: BinWording, wording: Wording) -> Section:
    """The eight inclinations, each as low, middling or high."""
    lines = tuple(
        f"- {words.inclinations[name]}{wording.colon}{words.degrees[min(2, int(value * 3))]}"
        for name, value in asdict(shown).items()
    )
    return Section(key="behaviour", title=words.behaviour, lines=lines)
