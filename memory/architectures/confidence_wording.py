"""The words of adaptive confidence, in both languages: sections, tools and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceWording:
    """Titles, guidance, descriptions and error messages of one language.

    ``arguments`` describe the tools' arguments, ``refusals`` what the model is told by code.
    """

    profile: str
    logs: str
    confirmed: str
    uncertain: str
    hidden: str
    tools: str
    guidance: tuple[str, ...]
    categories: Mapping[str, str]
    colon: str
    comma: str
    ellipsis: str
    descriptions: Mapping[str, str]
    arguments: Mapping[str, str]
    refusals: Mapping[str, str]


ENGLISH = ConfidenceWording(
    profile="Facts about the user, in brief",
    logs="Earlier conversations, a line each",
    confirmed="What you remember about the user",
    uncertain=("What you are not sure of (the user has since said otherwise; it may have changed)"),
    hidden="What you hardly believe any more (the user isn't told)",
    tools="Keeping your memory",
    guidance=(
        "While you answer you can look after your memory with tools. Do it silently: the user sees "
        "your words, not your calls.",
        "- Something new that the user tells about themselves: save_memory, in their own words as "
        "far as possible. Trust what they say first.",
        "- A feeling or a liking that goes against a memory: weaken_memory. Moods pass; don't "
        "overwrite. If there is a new liking, save that too.",
        "- A fact that has changed: update_memory.",
        "- Something remembered comes up again: save_memory with the same content.",
        "- You need something that isn't shown, or they contradict something that you may once "
        "have known: recall_memory.",
        "- A memory that was wrong from the start: forget_memory. This is rare.",
        "Name memories by the code before them, such as m1. Save only what the user has said "
        "themselves, never what only stands in these sections.",
    ),
    categories={
        "event": "Life",
        "learning": "Learning",
        "preference": "Likes and dislikes",
        "personality": "Personality",
    },
    colon=": ",
    comma="; ",
    ellipsis="…",
    descriptions={
        "save_memory": (
            "Remember something that the user has just said about themselves, or confirm a memory "
            "that has come up again."
        ),
        "recall_memory": "Look for memories by keywords, hidden ones included.",
        "weaken_memory": (
            "The user has said something that goes against a remembered feeling or liking: be "
            "less sure of it, one step at a time."
        ),
        "update_memory": "A remembered fact has changed: correct it.",
        "forget_memory": "Delete a memory that was wrong altogether. Rarely needed.",
    },
    arguments={
        "content": "One short phrase about one thing, at most {longest} characters.",
        "category": "One of: {categories}.",
        "is_factual": (
            "Whether it is a fact (true or false) rather than a feeling or a liking; leave it out "
            "to go by the category."
        ),
        "query": "Keywords to look for.",
        "memory": "The code of the memory, e.g. m1.",
        "reason": "What the user said, in a few words.",
    },
    refusals={
        "unknown_tool": "There is no such tool.",
        "malformed": (
            "The arguments must be one JSON object with exactly the declared fields in their types."
        ),
        "too_long": "A text is empty, too long or can't be stored.",
        "unknown_category": "There is no such category.",
        "unknown_memory": "There is no memory of that code. Use a code shown in this conversation.",
        "unsupported": (
            "The user hasn't said that in this conversation. Save only what they say themselves, "
            "in their own words."
        ),
        "known_already": "That is known, and the user hasn't said it again just now.",
        "contradicts": (
            "That denies a memory. Use weaken_memory for a feeling or liking, update_memory for a "
            "fact."
        ),
        "not_factual": "That is a feeling or a liking, not a fact: use weaken_memory.",
        "once_a_turn": "That memory has been dealt with in this turn; it stays as it is.",
        "over_budget": "No more calls in this turn. Answer the user now.",
        "changed_meanwhile": "That memory has just been changed elsewhere.",
    },
)

CHINESE = ConfidenceWording(
    profile="关于用户的事实（简要）",
    logs="以往的对话（每次一行）",
    confirmed="你记得的关于用户的事",
    uncertain="你不太确定的事（用户后来说过相反的话，可能已经变了）",
    hidden="你几乎不再相信的事（不对用户说）",
    tools="维护你的记忆",
    guidance=(
        "回答的同时，你可以用工具维护自己的记忆。请在后台进行：用户只看到你的话，看不到调用。",
        "- 用户讲了关于自己的新情况：save_memory，尽量用其原话。第一次说的，就相信。",
        "- 与记忆相反的感受或喜好：weaken_memory。心情会变，不要覆盖；有新的喜好，可另存一条。",
        "- 事实变了：update_memory。",
        "- 记得的事又被提起：用相同的内容 save_memory。",
        "- 需要这里没有列出的内容，或用户的话与你也许曾经知道的事相反：recall_memory。",
        "- 从一开始就错了的记忆：forget_memory。极少需要。",
        "用记忆前面的编号（如 m1）指称它。只保存用户亲口说过的，不要保存仅出现在这些部分里的内容。",
    ),
    categories={
        "event": "生活",
        "learning": "学习",
        "preference": "喜好",
        "personality": "性格",
    },
    colon="：",
    comma="；",
    ellipsis="……",
    descriptions={
        "save_memory": "记住用户刚刚说到的关于自己的事，或确认又被提起的一条记忆。",
        "recall_memory": "用关键词查找记忆，包括未列出的。",
        "weaken_memory": "用户说了与记住的感受或喜好相反的话：对它的把握降低一级。",
        "update_memory": "记住的事实变了：予以更正。",
        "forget_memory": "删除一条完全错误的记忆。极少需要。",
    },
    arguments={
        "content": "一个简短的短语，只说一件事，不超过 {longest} 个字符。",
        "category": "取其一：{categories}。",
        "is_factual": "是否为客观事实（而非感受或喜好）；不填则按类别而定。",
        "query": "要查找的关键词。",
        "memory": "记忆的编号，如 m1。",
        "reason": "用户说了什么，几个字即可。",
    },
    refusals={
        "unknown_tool": "没有这个工具。",
        "malformed": "参数须是一个 JSON 对象，字段及其类型与声明完全一致。",
        "too_long": "有文字为空、过长或无法存储。",
        "unknown_category": "没有这个类别。",
        "unknown_memory": "没有这个编号的记忆。请使用本次对话中列出的编号。",
        "unsupported": "用户在本次对话中没有这样说过。只保存其亲口所说，并用其原话。",
        "known_already": "这已经记得了，而且用户刚才并没有再次提起。",
        "contradicts": "这与一条记忆相反。感受或喜好请用 weaken_memory，事实请用 update_memory。",
        "not_factual": "这是感受或喜好，不是事实：请用 weaken_memory。",
        "once_a_turn": "这条记忆在这一轮中已处理过，保持不变。",
        "over_budget": "这一轮不能再调用工具。请现在回答用户。",
        "changed_meanwhile": "这条记忆刚刚被别处改动了。",
    },
)


def confidence_wording(language: str) -> ConfidenceWording:
    """The wording of a study's language, ``zh-hans`` or ``en``."""
    return {"en": ENGLISH, "zh-hans": CHINESE}[language]
