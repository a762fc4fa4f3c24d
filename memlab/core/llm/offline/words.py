"""The offline model's lexicon: feelings, topics, values, and cutting text into words."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Feeling:
    """A feeling: how strong (0-1), good or bad (1, -1), its name, and what shows it."""

    name_zh: str
    name_en: str
    intensity: float
    valence: int
    pattern: re.Pattern[str]

    def named(self, language: str) -> str:
        return self.name_en if language == "en" else self.name_zh


def _feeling(zh: str, en: str, intensity: float, valence: int, signs: str) -> Feeling:
    return Feeling(zh, en, intensity, valence, re.compile(signs, re.IGNORECASE))


# The strongest that fits names the feeling of a statement.
FEELINGS: tuple[Feeling, ...] = (
    _feeling("绝望", "despairing", 0.9, -1, r"绝望|活不下去|hopeless|despair|devastat"),
    _feeling("崩溃", "overwhelmed", 0.9, -1, r"崩溃|撑不住|overwhelm|falling apart|broke down"),
    _feeling(
        "害怕",
        "afraid",
        0.8,
        -1,
        r"害怕|恐惧|好怕|很怕|怕得|\b(?:afraid|scared|terrified|fear(?:s|ful)?)\b",
    ),
    _feeling(
        "愤怒", "angry", 0.8, -1, r"愤怒|气死|很生气|好生气|生气|\b(?:angry|furious|mad at)\b"
    ),
    _feeling(
        "悲伤",
        "sad",
        0.8,
        -1,
        r"伤心|难过|悲伤|心碎|想哭|哭了|\b(?:sad|heartbroken|crying|cried|grief)\b",
    ),
    _feeling(
        "迷茫",
        "lost",
        0.7,
        -1,
        r"迷茫|不知所措|找不到方向|\b(?:(?:feel|feeling|felt|so|am|i'm) lost|confused about)\b",
    ),
    _feeling(
        "焦虑", "anxious", 0.7, -1, r"焦虑|不安|紧张|\b(?:anxious|anxiety|nervous|panic\w*)\b"
    ),
    _feeling("孤独", "lonely", 0.7, -1, r"孤独|寂寞|孤单|\b(?:lonely|loneliness|alone)\b"),
    _feeling("羞愧", "ashamed", 0.7, -1, r"羞愧|自卑|愧疚|内疚|\b(?:ashamed|guilty|worthless)\b"),
    _feeling(
        "压力",
        "stressed",
        0.7,
        -1,
        r"压力(?:很|好|太|特别)?大|\b(?:stressed|stressful|burn(?:ed|t) out)\b",
    ),
    _feeling("后悔", "regretful", 0.6, -1, r"后悔|遗憾|\b(?:regret\w*)\b"),
    _feeling(
        "失望", "disappointed", 0.6, -1, r"失望|沮丧|郁闷|\b(?:disappointed|upset|depressed)\b"
    ),
    _feeling("担心", "worried", 0.6, -1, r"担心|忧虑|发愁|\b(?:worr(?:y|ied|ying))\b"),
    _feeling("疲惫", "tired", 0.5, -1, r"好累|很累|太累|疲惫|\b(?:exhausted|tired)\b"),
    _feeling("烦躁", "annoyed", 0.5, -1, r"烦死|好烦|很烦|烦躁|\b(?:annoy\w*|frustrat\w*)\b"),
    _feeling(
        "激动", "thrilled", 0.8, 1, r"激动|太开心|开心死|狂喜|\b(?:thrilled|ecstatic|overjoyed)\b"
    ),
    _feeling("感动", "moved", 0.7, 1, r"感动|热泪|\b(?:so moved|touched by|deeply touched)\b"),
    _feeling("自豪", "proud", 0.6, 1, r"自豪|骄傲|\b(?:proud)\b"),
    _feeling(
        "开心",
        "happy",
        0.5,
        1,
        r"开心|高兴|快乐|幸福|\b(?:happy|delighted|excited|joy(?:ful)?)\b",
    ),
    _feeling("感激", "grateful", 0.5, 1, r"感激|感恩|\b(?:grateful|thankful)\b"),
    _feeling("平静", "calm", 0.2, 1, r"平静|放松|\b(?:calm|relaxed|relaxing)\b"),
    _feeling(
        "冷淡",
        "indifferent",
        0.3,
        -1,
        r"呵呵|随便吧|无所谓|没意思|\b(?:whatever|who cares|meh)\b",
    ),
)


def feeling_in(text: str) -> Feeling | None:
    """The strongest feeling that a text shows, if any."""
    found = [feeling for feeling in FEELINGS if feeling.pattern.search(text)]
    return max(found, key=lambda feeling: feeling.intensity, default=None)


# A topic joins words of both languages, so that a question meets its answer.
TOPICS: dict[str, re.Pattern[str]] = {
    name: re.compile(signs, re.IGNORECASE)
    for name, signs in {
        "name": r"名字|我叫|叫什么|\bname\b",
        "age": r"多大|岁|\b(?:how old|years old|age)\b",
        "home": r"住在|哪里住|住哪|家乡|来自|老家"
        r"|\b(?:live in|lives in|where .* live|hometown|from)\b",
        "food": r"吃|喝|菜|饭|火锅|过敏|海鲜|咖啡|茶|甜|辣|素食"
        r"|\b(?:eat\w*|food|cook\w*|dinner|lunch|breakfast|restaurant|allerg\w*|coffee|tea|"
        r"seafood|vegetarian|vegan|cake)\b",
        "work": r"工作|做什么的|博士生|学生|上班|公司|职业|老板|同事|实习|面试"
        r"|老师|医生|程序员|工程师|加班"
        r"|\b(?:work\w*|job|boss|colleague\w*|career|office|intern\w*|interview|occupation|"
        r"profession|teacher|nurse|engineer|designer)\b",
        "study": r"学习|考试|论文|学校|读书|专业|博士|考研|考博|大学|导师|毕业"
        r"|\b(?:stud\w+|exam\w*|thesis|school|university|college|phd|degree|class\w*|graduat\w*)\b",
        "family": r"妈妈|爸爸|父母|父亲|母亲|家人|姐姐|妹妹|哥哥|弟弟|奶奶|爷爷|孩子|女儿|儿子"
        r"|\b(?:mother|mom|mum|father|dad|parents|family|sister|brother|grand\w+|daughter|son|"
        r"kids?|children)\b",
        "love": r"男朋友|女朋友|对象|老公|老婆|妻子|丈夫|分手|恋爱|结婚"
        r"|\b(?:boyfriend|girlfriend|husband|wife|partner|dating|broke up|marri\w+|wedding)\b",
        "friends": r"朋友|室友|闺蜜|\b(?:friends?|roommate\w*)\b",
        "pets": r"猫|狗|宠物|兔子|仓鼠|\b(?:cats?|kitten|dogs?|puppy|pets?|rabbit|hamster)\b",
        "health": r"生病|医院|身体|失眠|睡不着|头疼|感冒|手术|健康"
        r"|\b(?:sick|ill|hospital|health|insomnia|sleep\w*|headache|surgery|doctor)\b",
        "sport": r"爬山|跑步|健身|游泳|篮球|足球|运动|瑜伽|骑车|徒步"
        r"|\b(?:hik\w*|run|running|gym|swim\w*|basketball|football"
        r"|sports?|yoga|cycling|climb\w*)\b",
        "art": r"音乐|唱歌|钢琴|吉他|画画|绘画|电影|小说|摄影|跳舞|看书|阅读"
        r"|\b(?:music|sing\w*|piano|guitar|paint\w*|movies?|films?|novels?|photo\w*|danc\w*|"
        r"reading|books?|read)\b",
        "travel": r"旅行|旅游|出差|机票|搬家"
        r"|\b(?:travel\w*|trip|vacation|holiday|flight|mov(?:e|ed|ing) to)\b",
        "future": r"未来|打算|计划|目标|梦想|\b(?:future|plans?|planning|goals?|dreams?|hope to)\b",
    }.items()
}


def topics_in(text: str) -> frozenset[str]:
    """The topics that a text touches."""
    return frozenset(name for name, signs in TOPICS.items() if signs.search(text))


_ENGLISH_STOP_WORDS = """
a about am an and any are as at be been but by can could did do does for from had has have he her
him his how i if in is it its just me my no not of on or our out she so some than that the their
them then there they this to too up us was we were what when where which who why will with would
you your remember recall tell told know said say mention mentioned i'm it's don't really very like
"""
_ENGLISH_STOP = frozenset(_ENGLISH_STOP_WORDS.split())
_CHINESE_STOP = frozenset(
    "的了是我你他她它们在有和就不人都一个上也很到说要去会着没看好自己这那吗呢吧啊呀嘛么什怎哪谁为"
    "还记得知道之前曾经跟对我给把被让"
)
#: What stands between the things that a Chinese sentence is about.
_CHINESE_BETWEEN = re.compile(
    r"今天|明天|昨天|今年|明年|去年|现在|目前|最近|刚刚|一直|喜欢|讨厌|打算|准备|计划|希望|觉得"
    r"|非常|特别|真的|因为|所以|但是|不过|而且|还有|然后|可以|可能|应该|起来|下来|出来"
    r"|[一两几][个名位只条直起些年点]?|[叫住来自爱喝吃次太没再名位岁想做当从最更次些点"
    # Names hold some of what else only builds sentences: 上海, 成都, 会计, 好友.
    rf"{''.join(sorted(_CHINESE_STOP - set('上都会好')))}]"
)
_WORD = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]+")


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning: English stems, and pairs of Chinese characters."""
    words: set[str] = set()
    for piece in _WORD.findall(text.lower()):
        if piece[0] <= "z":
            if piece not in _ENGLISH_STOP:
                words.add(_stem(piece))
        else:
            words.update(
                pair
                for pair in (piece[i : i + 2] for i in range(len(piece) - 1))
                if not _CHINESE_STOP & set(pair)
            )
    return frozenset(words)


def own_words(text: str) -> list[str]:
    """The words of a text as they stand in it, in order: English without stop words, and Chinese
    runs of two to four characters between words that only build sentences."""
    words: list[str] = []
    for piece in _WORD.findall(text.lower()):
        if piece[0] <= "z":
            if piece not in _ENGLISH_STOP and len(piece) > 1:
                words.append(piece)
        else:
            words.extend(run for run in _CHINESE_BETWEEN.split(piece) if 2 <= len(run) <= 4)
    return list(dict.fromkeys(words))


def _stem(word: str) -> str:
    for ending in ("'s", "ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
