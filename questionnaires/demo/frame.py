"""Demo instruments around the study: screening before it, and questions with the debriefing."""

from __future__ import annotations

from dataclasses import replace

from questionnaires.content import Condition, Text
from questionnaires.demo.wording import demo, single, text
from questionnaires.enums import ItemType

SCREENING = demo(
    "screening",
    "Screening",
    "筛选问卷",
    single(
        "age_group",
        "How old are you?",
        "您的年龄是？",
        ("18 to 24", "18–24 岁"),
        ("25 to 34", "25–34 岁"),
        ("35 to 44", "35–44 岁"),
        ("45 to 59", "45–59 岁"),
        ("60 or older", "60 岁及以上"),
    ),
    single(
        "experience",
        "How often do you use AI chatbots?",
        "您使用 AI 聊天机器人的频率是？",
        ("Never so far", "从未用过"),
        ("I have tried one", "试用过"),
        ("Several times a month", "每月几次"),
        ("Several times a week", "每周几次"),
        ("Every day", "每天"),
    ),
    replace(
        single(
            "purposes",
            "What do you use them for?",
            "您主要用它们来做什么？",
            ("Work or study", "工作或学习"),
            ("Everyday questions", "日常问题"),
            ("Company and conversation", "陪伴和聊天"),
            ("Something else", "其他"),
        ),
        type=ItemType.MULTIPLE,
        condition=Condition(item="experience", operator=">=", value=2),
    ),
    introduction=Text(),
    stands_for="questions on the person of the study's own.",
)

DEBRIEFING = demo(
    "debriefing",
    "Suspicion and contamination",
    "猜疑与信息泄露",
    text(
        "guess",
        "In your own words: what do you think this study wanted to find out?",
        "请用您自己的话说说：您认为这项研究想了解什么？",
    ),
    single(
        "suspicion",
        "While you took part, did you think that the study was about something else than you had "
        "been told?",
        "在参与期间，您是否觉得研究的真实目的与告知您的不同？",
        ("No", "没有"),
        ("Now and then", "偶尔"),
        ("Yes", "有"),
        page=2,
    ),
    text(
        "suspicion_what",
        "What did you think?",
        "您当时是怎么想的？",
        page=2,
        condition=Condition(item="suspicion", operator=">=", value=2),
    ),
    single(
        "contact",
        "Did you hear from somebody else what takes place in this study?",
        "您是否从别人那里听说过这项研究的内容？",
        ("No", "没有"),
        ("Yes, before it was over for me", "有，在我完成之前"),
        ("Yes, but only afterwards", "有，但在我完成之后"),
        page=2,
    ),
    text(
        "contact_what",
        "What did you hear?",
        "您听说了什么？",
        page=2,
        condition=Condition(item="contact", operator="==", value=2),
    ),
    introduction=Text(),
    stands_for=(
        "a funnel debriefing, Bargh, J. A., & Chartrand, T. L. (2000). The mind in the middle. In "
        "Handbook of research methods in social and personality psychology."
    ),
)
