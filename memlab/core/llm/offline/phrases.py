"""What the offline model says, in both languages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """The sentences of one language; `{quotes}` and `{text}` are filled in."""

    tag: str
    opening: str
    about_itself: str
    recalled: str
    reminded: str
    quote: str
    between_quotes: str
    unknown: str
    unknown_of_you: str
    joiner: str
    neutral: tuple[str, ...]
    glad: tuple[str, ...]
    sorry: tuple[str, ...]
    general_questions: tuple[str, ...]
    questions: dict[str, tuple[str, ...]]


_ZH = Phrases(
    tag="（离线演示模型）",
    opening="你好！我是离线演示模型，按简单的规则回答。今天想聊点什么？",
    about_itself="我是 Memlab 的离线演示模型：不是人，也不是大语言模型，只会按规则回答，"
    "并引用这次给我的内容。你想接着聊什么？",
    recalled="我这里有这样的内容：{quotes}。",
    reminded="这让我想到：{quotes}。",
    quote="“{text}”",
    between_quotes="，还有",
    unknown="这个我不知道：我是离线演示模型，只能用这次给我的内容来回答。",
    unknown_of_you="这个我不知道，这次给我的内容里没有。你愿意告诉我吗？",
    joiner="",
    neutral=("嗯，我听到了。", "谢谢你告诉我。", "好的，我明白了。"),
    glad=("听起来真不错。", "真为你高兴。", "这种感觉一定很好。"),
    sorry=("听起来不容易。", "谢谢你愿意说出来。", "这样的感受确实很难受。"),
    general_questions=(
        "能再多说一点吗？",
        "后来怎么样了？",
        "你当时是怎么想的？",
        "这件事对你意味着什么？",
    ),
    questions={
        "work": ("工作上最近最让你在意的是什么？", "这对你的工作有什么影响？"),
        "study": ("学习上现在最难的是哪一部分？", "接下来你打算先做什么？"),
        "family": ("家里人是怎么看这件事的？", "你和家人平时怎么相处？"),
        "love": ("你们之间现在怎么样？", "你希望接下来怎样？"),
        "friends": ("你们是怎么认识的？", "朋友那边怎么说？"),
        "pets": ("它平时是什么样的？", "它最让你开心的是什么？"),
        "food": ("你平时喜欢吃什么？", "是自己做的吗？"),
        "health": ("现在身体感觉怎么样？", "最近休息得好吗？"),
        "sport": ("你多久去一次？", "是什么让你喜欢上它的？"),
        "art": ("最打动你的是哪一点？", "你是从什么时候开始的？"),
        "travel": ("那里给你印象最深的是什么？", "是和谁一起去的？"),
        "future": ("第一步你想怎么走？", "是什么让你有了这个想法？"),
    },
)

_EN = Phrases(
    tag="[Offline demo model] ",
    opening="Hello! I am the offline demo model, and I answer by simple rules. "
    "What would you like to talk about today?",
    about_itself="I am Memlab's offline demo model: neither a person nor a large language model. "
    "I answer by rules and quote what I was given for this turn. What shall we talk about?",
    recalled="Here is what I have on that: {quotes}.",
    reminded="That makes me think of this: {quotes}.",
    quote="“{text}”",
    between_quotes=", and ",
    unknown="I don't know that: as the offline demo model I can only answer from what I was given.",
    unknown_of_you="I don't know that; it is not in what I was given. Would you like to tell me?",
    joiner=" ",
    neutral=("I see.", "Thank you for telling me.", "Alright, I follow you."),
    glad=("That sounds lovely.", "I am glad for you.", "That must feel good."),
    sorry=("That sounds hard.", "Thank you for saying it.", "That is a heavy feeling to carry."),
    general_questions=(
        "Can you tell me a little more?",
        "What happened next?",
        "What went through your mind?",
        "What does it mean to you?",
    ),
    questions={
        "work": ("What matters most to you at work right now?", "How does that affect your work?"),
        "study": ("Which part of it is hardest right now?", "What will you do first?"),
        "family": ("What does your family think about it?", "How do you get along at home?"),
        "love": ("How are things between you now?", "What do you hope happens next?"),
        "friends": ("How did you meet?", "What do your friends say?"),
        "pets": ("What is your pet like?", "What do you enjoy most about having a pet?"),
        "food": ("What do you usually like to eat?", "Did you make it yourself?"),
        "health": ("How are you feeling now?", "Have you been resting well?"),
        "sport": ("How often do you go?", "What made you like it?"),
        "art": ("What touched you most about it?", "When did you start with that?"),
        "travel": ("What impressed you most there?", "Who went with you?"),
        "future": ("What would be your first step?", "What gave you the idea?"),
    },
)

PHRASES = {"zh": _ZH, "en": _EN}
