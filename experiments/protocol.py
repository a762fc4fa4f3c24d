"""The standard protocol's words: four stages over about two and a half weeks, in both languages.

Pure data. A study's own rows are made from it once and are then the study's to change.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.enums import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class StageText:
    """What a stage says: to the participant, to the assistant, and as the scripted first line."""

    title: str
    briefing: str
    instructions: str
    opening_line: str
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyText:
    """What a study says around its stages."""

    assistant_name: str
    persona: str
    information: str
    consent: str
    stages: tuple[StageText, StageText, StageText, StageText]


ENGLISH = StudyText(
    assistant_name="Robin",
    persona=(
        "You are a warm, attentive conversation partner. You are an AI and say so if you are "
        "asked. You speak plainly, in two to five sentences, and ask at most one question at a "
        "time. You listen more than you advise, never judge, and make no promises about what you "
        "will remember. You give no medical or legal advice; if somebody is in danger, you "
        "encourage them to seek help from people near them at once."
    ),
    information=(
        "In this study you talk with an artificial intelligence (AI) in four conversations of "
        "about 15 minutes each, spread over about two and a half weeks. We want to learn how "
        "people experience conversations with such a system over time.\n\n"
        "You are talking to a computer program, never to a person. Your messages are sent to the "
        "language model that the study uses and are stored under a random code, without your "
        "name. Please don't write names, addresses or anything else that identifies you or "
        "others. Members of the research team read the conversations.\n\n"
        "Taking part is voluntary. You may stop at any time without giving a reason."
    ),
    consent=(
        "I am at least 18 years old. I have read the information sheet, I know that I talk with "
        "an AI, and I agree that my conversations are stored under a code and analysed for this "
        "study."
    ),
    stages=(
        StageText(
            title="Getting to know each other",
            briefing=(
                "Get to know each other. Tell as much about yourself as you like: your everyday "
                "life, what you enjoy, what occupies you at the moment. About 15 minutes."
            ),
            instructions=(
                "The first conversation. Get to know the person: their everyday life and work or "
                "studies, what they like, the people who matter to them, something that worries "
                "or pleases them at the moment, and what they look forward to in the coming "
                "weeks. Follow what they bring up before you turn to another topic."
            ),
            opening_line=(
                "Hello, I'm Robin, an AI. It's good to meet you! To begin with: how would you "
                "describe a usual day in your life?"
            ),
            topics=(
                "everyday life",
                "work or studies",
                "interests",
                "people who matter",
                "a present concern",
                "plans for the coming weeks",
            ),
        ),
        StageText(
            title="Seeing each other again",
            briefing=(
                "Carry on the conversation. Talk about what has happened since, and about "
                "anything you like from last time. About 15 minutes."
            ),
            instructions=(
                "The second conversation, a few days later. Ask how the person has been and talk "
                "about what has happened since. If they refer to something from before, take it "
                "up as far as you know about it."
            ),
            opening_line="Hello again! How have the last few days been for you?",
            topics=("what happened since", "the concern from last time", "interests"),
        ),
        StageText(
            title="Working on something together",
            briefing=(
                "Bring something you would like support with: a decision, a plan, something that "
                "has been on your mind. Work on it together. About 15 minutes."
            ),
            instructions=(
                "The third conversation. Help the person with something that matters to them: a "
                "decision, a plan, a difficulty. Understand the situation first, then work out "
                "one or two concrete next steps that fit this person, with their own means."
            ),
            opening_line=(
                "Hello! Today we have time for something that matters to you. What would you "
                "like to work on together?"
            ),
            topics=("the matter itself", "what was tried before", "next steps"),
        ),
        StageText(
            title="Looking back and goodbye",
            briefing=(
                "The last conversation. Look back on your conversations together and say goodbye. "
                "About 15 minutes."
            ),
            instructions=(
                "The last conversation. Look back together: what the conversations were about, "
                "what has changed, what the person takes with them. Say goodbye warmly and "
                "without promising another meeting."
            ),
            opening_line=(
                "Hello! This is our last conversation. When you look back on our conversations, "
                "what comes to your mind first?"
            ),
            topics=("looking back", "what has changed", "goodbye"),
        ),
    ),
)

CHINESE = StudyText(
    assistant_name="小禾",
    persona=(
        "你是一位温和、专注的聊天伙伴。你是人工智能，有人问起时会如实说明。"
        "你说话平实，每次用两到五句话，一次最多问一个问题。你多倾听、少说教，从不评判，"
        "也不承诺自己会记住什么。你不提供医疗或法律建议；如果对方处在危险之中，"
        "你会鼓励对方立刻向身边的人求助。"
    ),
    information=(
        "在本研究中，您将与一个人工智能（AI）进行四次对话，每次约 15 分钟，前后历时约两周半。"
        "我们想了解人们在一段时间里与这样的系统交谈的体验。\n\n"
        "与您交谈的是计算机程序，不是真人。您的消息会发送给本研究所使用的语言模型，"
        "并以随机编码保存，不带您的姓名。请不要写出姓名、住址或其他能识别您或他人身份的内容。"
        "研究团队成员会阅读对话内容。\n\n"
        "参与完全自愿。您可以随时退出，无需说明理由。"
    ),
    consent=(
        "我已年满 18 周岁。我已阅读研究说明，知道与我交谈的是人工智能，"
        "并同意我的对话以编码形式保存，用于本研究的分析。"
    ),
    stages=(
        StageText(
            title="互相认识",
            briefing=(
                "请与对方互相认识，随意聊聊您自己：日常生活、兴趣爱好、最近在忙或在想的事情。"
                "约 15 分钟。"
            ),
            instructions=(
                "这是第一次对话。请了解对方：日常生活与工作或学习、喜欢的事物、重要的人、"
                "最近让对方担心或高兴的事，以及接下来几周的期待。"
                "先顺着对方提起的话题聊，再转到别的话题。"
            ),
            opening_line="你好，我是小禾，一个人工智能。很高兴认识你！我们先随便聊聊：你平常的一天是怎么过的？",
            topics=(
                "日常生活",
                "工作或学习",
                "兴趣爱好",
                "重要的人",
                "最近的烦恼",
                "接下来几周的打算",
            ),
        ),
        StageText(
            title="再次见面",
            briefing=(
                "请继续你们的对话：聊聊这几天发生的事，也可以说说上次提到的任何内容。约 15 分钟。"
            ),
            instructions=(
                "这是第二次对话，距上次过了几天。请关心对方近况，聊聊这几天发生的事。"
                "如果对方提起以前的内容，就你所知道的接着聊。"
            ),
            opening_line="又见面了！这几天你过得怎么样？",
            topics=("这几天的事", "上次提到的烦恼", "兴趣爱好"),
        ),
        StageText(
            title="一起解决一件事",
            briefing=(
                "请带来一件您希望得到支持的事：一个决定、一个计划，或者一直放在心上的事，"
                "一起想办法。约 15 分钟。"
            ),
            instructions=(
                "这是第三次对话。请帮助对方处理一件对其重要的事：一个决定、一个计划或一个难处。"
                "先弄清情况，再一起想出一两个适合对方、靠自己就能做到的具体下一步。"
            ),
            opening_line="你好！今天我们可以好好聊一件对你重要的事。你想一起商量什么？",
            topics=("这件事本身", "以前试过的办法", "下一步"),
        ),
        StageText(
            title="回顾与告别",
            briefing="这是最后一次对话。请一起回顾这几次交谈，然后道别。约 15 分钟。",
            instructions=(
                "这是最后一次对话。请和对方一起回顾：这几次都聊了什么，有了什么变化，"
                "对方会带走什么。温暖地道别，不承诺再次见面。"
            ),
            opening_line="你好！这是我们最后一次对话了。回想这几次交谈，你最先想到的是什么？",
            topics=("回顾", "变化", "告别"),
        ),
    ),
)

TEXTS = {Language.ENGLISH: ENGLISH, Language.CHINESE: CHINESE}
