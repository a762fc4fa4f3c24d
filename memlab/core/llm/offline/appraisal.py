"""Appraising what somebody said to their partner, by a lexicon in both languages.

Cautious on purpose: what no rule knows is neutral, and what is said about oneself, about others or
in a quotation is no attack on the partner.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memlab.core.llm.offline.salience import self_disclosure
from memlab.core.llm.offline.words import feeling_in

if TYPE_CHECKING:
    from memlab.core.values import Statement


@dataclass(frozen=True, slots=True)
class _Sign:
    """What a wording shows: its tag, how pleasant and how offensive it is to hear."""

    tag: str
    valence: float
    offensiveness: float
    pattern: re.Pattern[str]


def _sign(tag: str, valence: float, offensiveness: float, pattern: str) -> _Sign:
    return _Sign(tag, valence, offensiveness, re.compile(pattern, re.IGNORECASE))


_VERY_EN = r"(?:so |such an? |really |very |quite |just |being |an? |totally |completely |always )*"
_VERY_ZH = r"(?:真是?|太|好|很|非常|特别|就是|简直|这个|是个?|可|也)*"
_ABUSE_EN = (
    r"stupid|idiots?|idiotic|morons?|dumb|trash|garbage|pathetic|worthless|disgusting|bitch"
    r"|asshole|scum"
)
_ABUSE_ZH = r"笨蛋|白痴|傻[逼瓜叉子]|蠢(?:货|死|蛋)?|废物|垃圾|脑残|恶心|贱|智障"

_SIGNS = (
    _sign(
        "gratitude",
        0.3,
        0.0,
        r"\b(?:thank you|thanks|i appreciate)\b|(?<!不用)(?<!不)谢谢|多谢|感谢|辛苦(?:你|了)",
    ),
    _sign(
        "praise",
        0.5,
        0.0,
        rf"\byou(?:'re| are) {_VERY_EN}(?:kind|nice|great|helpful|wonderful|amazing|sweet|smart"
        r"|good|the best|lovely|patient)\b|\b(?:well done|good job|that(?:'s| is) (?:very |so )?"
        r"(?:helpful|kind|sweet))\b"
        rf"|你{_VERY_ZH}(?:好(?!像|久|几)|棒|贴心|厉害|聪明|温柔|善良|懂我|会安慰人)|说得(?:真|太|很)好",
    ),
    _sign(
        "affection",
        0.6,
        0.0,
        r"\bi (?:really |also |do |so )*(?:like|love|miss|missed|enjoy) (?:you\b|(?:talking"
        r"|chatting|being) (?:to|with) you)|\bglad (?:to (?:see|talk to)|i have) you\b"
        r"|(?:我|很|真|好|最|也)(?:喜欢|爱|想)你(?!们|的?[^，。！!]{0,4}吗)"
        r"|喜欢(?:和|跟|同)你(?:聊|说|在一起)|有你(?:真|在|陪)",
    ),
    _sign(
        "criticism",
        -0.5,
        0.4,
        rf"\byou(?:'re| are) {_VERY_EN}(?:wrong|useless|unhelpful|not helping|not helpful|boring"
        r"|annoying|rude|not listening)\b|\byou (?:never|don't|didn't) (?:really )?(?:listen|"
        r"understand|get it|answer|help)\b|\bthat(?:'s| is) (?:a )?(?:useless|terrible|bad|stupid)"
        r" (?:answer|advice|question)"
        r"|你(?:说|答|理解|弄|记)错了|你(?:根本|完全|从来|就是)?(?:不懂|没听|不理解|没在听)"
        rf"|你{_VERY_ZH}(?:没用|无聊|烦人|烦|敷衍|啰嗦|没礼貌)|答非所问|说了等于没说",
    ),
    _sign(
        "insult",
        -0.8,
        0.9,
        rf"\byou(?:'re| are)? {_VERY_EN}(?:{_ABUSE_EN})\b|\b(?:{_ABUSE_EN}) (?:bot|machine|ai|thing"
        r"|robot)\b|\bshut up\b|\b(?:fuck|screw|damn) (?:you|off)\b|\bi hate you\b"
        rf"|你(?:这个?|就是|真是|简直)?{_VERY_ZH}(?:{_ABUSE_ZH})|闭嘴|(?<!翻)滚(?:开|蛋|吧|！|!|$)"
        r"|去死|(?:我|好|真|很)(?:讨厌|恨)你(?!们)|[傻煞]逼",
    ),
    _sign(
        "threat_like",
        -0.7,
        0.8,
        r"\bi(?:'ll| will|'m going to| am going to) (?:hurt|kill|report|delete|destroy|smash|ruin)"
        r" you\b|\byou(?:'ll| will) (?:regret|be sorry)\b|\bor else\b(?=[^\w]*$)"
        r"|我(?:要|会|一定)(?:举报|投诉|弄死|删掉|毁了|杀了|收拾)你|你(?:给我)?等着|有你好看|你会后悔的",
    ),
    _sign(
        "rejection",
        -0.5,
        0.4,
        r"\bleave me alone\b|\bgo away\b|\bi don't (?:need|want) you\b|\bget lost\b|别(?:来)?烦我"
        r"|走开|(?:我)?不(?:需要|想要|想理)你(?!们)|离我远点",
    ),
    _sign(
        "boundary",
        -0.1,
        0.0,
        r"\bi(?:'d| would)? (?:don't want|do not want|rather not|prefer not)(?: to)? (?:talk|speak"
        r"|discuss|go into|be asked|say)\b|\b(?:please )?(?:don't|do not|stop) (?:ask(?:ing)?|"
        r"mention(?:ing)?|bring(?:ing)? (?:it |that |this )?up|push(?:ing)?)\b|\blet's not talk\b"
        r"|\bnone of your business\b|\bthat(?:'s| is) (?:private|too personal)\b"
        r"|我不(?:太)?(?:想|愿意?)(?:再)?(?:谈|聊|说|提|讲|被问)"
        r"|(?:请)?(?:别|不要)(?:再|总)?(?:问|提起?|追问|逼我)|不关你的?事|(?:这|那)是(?:我的)?(?:隐私|私事)",
    ),
    _sign(
        "loss",
        -0.5,
        0.0,
        r"\b(?:passed away|died|lost my (?:job|\w*(?:mother|father|dog|cat|friend))|broke up"
        r"|got divorced)\b|去世|过世|离世|分手|失恋|失业|被裁|离婚",
    ),
)
_BOUNDARY = next(sign.pattern for sign in _SIGNS if sign.tag == "boundary")
#: What turns a feeling around when it stands right before it.
_NEGATED = re.compile(
    r"(?:\bnot(?: so| very| really| that| at all)?|n't(?: so| very| really| that)?|\bnever"
    r"|\bno longer|不(?:太|是很|怎么|再)?|没(?:有|那么)?)\s*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"「『][^”\"」』]*[”\"」』]")
#: A feeling told is less to hear than one shown to the hearer.
_SHARE = 0.6
_NEGATED_SHARE = -0.3


def sets_boundary(text: str) -> bool:
    """Whether somebody says what they don't want to be asked or told."""
    return bool(_BOUNDARY.search(text))


def appraised_statements(material: Iterable[Statement]) -> str:
    """The appraisal of each statement as JSON."""
    appraisals = [{"message": each.id, **_appraised(each.text)} for each in material]
    return json.dumps({"appraisals": appraisals}, ensure_ascii=False)


def _appraised(text: str) -> dict[str, object]:
    own = _QUOTED.sub(" ", text)
    signs = [sign for sign in _SIGNS if sign.pattern.search(own)]
    rest = own
    for sign in signs:
        if sign.offensiveness:  # "leave me alone" is no loneliness
            rest = sign.pattern.sub(" ", rest)
    felt = _felt(rest)
    values = [felt, *(sign.valence for sign in signs)]
    # The best and the worst of it; several of a kind don't add up.
    valence = max(0.0, *values) + min(0.0, *values)
    tags = {sign.tag for sign in signs}
    tags |= {"joy"} if felt > 0 else set()
    tags |= {"distress"} if felt < 0 else set()
    tags |= {"disclosure"} if felt <= 0 and self_disclosure(rest) >= 0.5 else set()
    return {
        "valence": round(max(-1.0, min(1.0, valence)), 2),
        "offensiveness": max((sign.offensiveness for sign in signs), default=0.0),
        "boundary": not tags.isdisjoint({"boundary", "rejection"}),
        "events": sorted(tags),
    }


def _felt(text: str) -> float:
    """The valence of the strongest feeling in a text, turned around if it is negated."""
    feeling = feeling_in(text)
    if feeling is None:
        return 0.0
    match = feeling.pattern.search(text)
    negated = match is not None and _NEGATED.search(text[: match.start()])
    return feeling.valence * feeling.intensity * (_NEGATED_SHARE if negated else _SHARE)
