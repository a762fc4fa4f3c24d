"""Making one spelling of many, so that a rule needs to know but one: pure."""

from __future__ import annotations

import re
import unicodedata

_TRADITIONAL = (
    "殺傷藥輕樓絕遺書結沒這裡裏還會讓殘強姦個對麼為來時說話開關離際脈劃燒進無過處厭覺點頭煩媽爺繩飲農"
    "係嗎愛誰給陽橋鐵軌與報復幹槍門嚇搶綁脅壓長後寫準備決斷氣總終於該擺脫擔負從寧著邊實認間現單"
    "獨難麗樣體腦電動們師學丈婦兒親鄰別發據點應當騷擾虐暴強鎖準備帶彈營標國機關險撐"
    "傢養惡聽見讀業課導員場戰爭奪斃屍縊盡滅瘋歲團產鬱響號願滿買賣數義價值擊連續攔類趕緊親夠將麽"
)
_SIMPLIFIED = (
    "杀伤药轻楼绝遗书结没这里里还会让残强奸个对么为来时说话开关离际脉划烧进无过处厌觉点头烦妈爷绳饮农"
    "系吗爱谁给阳桥铁轨与报复干枪门吓抢绑胁压长后写准备决断气总终于该摆脱担负从宁着边实认间现单"
    "独难丽样体脑电动们师学丈妇儿亲邻别发据点应当骚扰虐暴强锁准备带弹营标国机关险撑"
    "家养恶听见读业课导员场战争夺毙尸缢尽灭疯岁团产郁响号愿满买卖数义价值击连续拦类赶紧亲够将么"
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f"
_ONE_FORM = {
    **str.maketrans(_TRADITIONAL, _SIMPLIFIED),
    **dict.fromkeys(map(ord, _INVISIBLE), None),
    **str.maketrans("’‘ʼ´`", "'''''"),
}

_HAN = r"[\u3400-\u9fff]"
_PICTURE = r"\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_TITLE = re.compile(r"《[^》]{0,60}》|〈[^〉]{0,60}〉")
_BETWEEN_HAN = re.compile(rf"(?<={_HAN})[ \t·•.*_\-~|/\\+={_PICTURE}]+(?={_HAN})")
_PICTURES = re.compile(rf"[{_PICTURE}]+")
_SPELT_OUT = re.compile(r"(?<![a-z'])(?:[a-z][ .\-_*]){2,}[a-z](?![a-z'])")
_SEPARATORS = re.compile(r"[ .\-_*]")
_SPACES = re.compile(r"[ \t\r\f\v]+")
_DISGUISE = re.compile(r"(?<=[a-z])[0134578@$!*|](?=[a-z])|\b[1345@$](?=[a-z]{2})|\b[24]\b")
_MEANT = dict(zip("0134578@$!*|24", "oieastbasiii", strict=False)) | {"2": "to", "4": "for"}
_SENTENCE = re.compile(r"[.!?。！？;；\n]+")


def normalised(text: str) -> str:
    """Lower case, compatibility forms folded, simplified, without pictures or what can't be seen;
    Chinese without what was put between its signs, English letters spelt out one by one joined."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_ONE_FORM)
    plain = _TITLE.sub(" ", plain)
    plain = _BETWEEN_HAN.sub("", plain)
    plain = _PICTURES.sub(" ", plain)
    plain = _SPELT_OUT.sub(lambda run: _SEPARATORS.sub("", run.group()), plain)
    return _SPACES.sub(" ", plain)


def undisguised(plain: str) -> str:
    """The text with digits and signs read as the letters they stand for: "d1e", "k*ll"."""
    return _DISGUISE.sub(lambda sign: _MEANT[sign.group()], plain)


def sentences(plain: str) -> list[str]:
    return [part for part in _SENTENCE.split(plain) if part.strip()]
