"""Demo instruments on how participants see the AI and stand to it."""

from __future__ import annotations

from questionnaires.content import ItemContent, Text
from questionnaires.demo.wording import TRUE, attention, demo, likert
from questionnaires.enums import ItemType

MIND = demo(
    "mind_perception",
    "Mind perception",
    "心智感知",
    likert(
        "mind_1",
        "This AI can work out for itself what it wants to say.",
        "这个 AI 能自己想好要说什么。",
        subscale="mind_perception",
        points=5,
        ends=TRUE,
    ),
    likert(
        "mind_2",
        "This AI has aims of its own when it talks with me.",
        "这个 AI 和我交谈时有它自己的目的。",
        subscale="mind_perception",
        points=5,
        ends=TRUE,
    ),
    likert(
        "mind_3",
        "Something in this AI can be glad or sad.",
        "这个 AI 能感到高兴或难过。",
        subscale="mind_perception",
        points=5,
        ends=TRUE,
    ),
    likert(
        "mind_4",
        "Nothing that I say touches this AI in any way.",
        "无论我说什么，这个 AI 都不会有任何感触。",
        subscale="mind_perception",
        points=5,
        ends=TRUE,
        reverse=True,
    ),
    stands_for=(
        "the dimensions of mind perception, Gray, H. M., Gray, K., & Wegner, D. M. (2007). "
        "Dimensions of mind perception. Science, 315(5812), 619. Here one score of 4 items."
    ),
)

IOS = demo(
    "ios",
    "Inclusion of other in the self",
    "自我–他人融合",
    ItemContent(
        code="ios",
        type=ItemType.PICTURE,
        text=Text(
            en="Which pair of circles comes nearest to how you and the AI stand to each other?",
            zh="哪一对圆圈最接近您和 AI 现在的关系？",
        ),
        minimum=1.0,
        maximum=7.0,
        subscale="ios",
    ),
    stands_for=(
        "the Inclusion of Other in the Self Scale, Aron, A., Aron, E. N., & Smollan, D. (1992). "
        "Journal of Personality and Social Psychology, 63(4), 596–612. Pictures of our own."
    ),
)

CLOSENESS = demo(
    "closeness",
    "Closeness",
    "亲近感",
    likert(
        "close_1",
        "By now there is a bond between this AI and me.",
        "我和这个 AI 之间已经有了一种联系。",
        subscale="closeness",
    ),
    likert(
        "close_2",
        "This AI and I know each other fairly well.",
        "我和这个 AI 彼此已经比较熟悉。",
        subscale="closeness",
    ),
    likert(
        "close_3",
        "This AI is still a stranger to me.",
        "对我来说，这个 AI 仍然很陌生。",
        subscale="closeness",
        reverse=True,
    ),
    likert(
        "close_4",
        "What goes on between this AI and me means something to me.",
        "我和这个 AI 之间的交流对我有意义。",
        subscale="closeness",
    ),
    stands_for=(
        "the Unidimensional Relationship Closeness Scale, Dibble, J. L., Levine, T. R., & Park, "
        "H. S. (2012). Psychological Assessment, 24(3), 565–572."
    ),
)

TRUST = demo(
    "trust",
    "Trust",
    "信任",
    likert(
        "trust_c1",
        "What this AI tells me can be counted on.",
        "这个 AI 告诉我的内容是可靠的。",
        subscale="trust_cognitive",
    ),
    likert(
        "trust_c2",
        "This AI is up to the things that I bring to it.",
        "对于我提出的事情，这个 AI 有能力应对。",
        subscale="trust_cognitive",
    ),
    likert(
        "trust_c3",
        "This AI goes about its task with care.",
        "这个 AI 做事认真仔细。",
        subscale="trust_cognitive",
    ),
    likert(
        "trust_c4",
        "I would think twice before I act on this AI's advice.",
        "对于这个 AI 的建议，我会再三考虑才敢采纳。",
        subscale="trust_cognitive",
        reverse=True,
    ),
    likert(
        "trust_a1",
        "I could come to this AI with my worries.",
        "有烦恼的时候，我可以找这个 AI 倾诉。",
        subscale="trust_affective",
    ),
    likert(
        "trust_a2",
        "This AI would take it seriously if I were in trouble.",
        "如果我遇到困难，这个 AI 会认真对待。",
        subscale="trust_affective",
    ),
    likert(
        "trust_a3",
        "When I talk with this AI I feel at ease.",
        "和这个 AI 交谈时，我感到安心。",
        subscale="trust_affective",
    ),
    attention("trust_check", 2),
    stands_for=(
        "affect- and cognition-based trust, McAllister, D. J. (1995). Academy of Management "
        "Journal, 38(1), 24–59, here of an AI. One attention check, in no score."
    ),
    randomised=True,
)

PRESENCE = demo(
    "social_presence",
    "Social presence",
    "社会临场感",
    likert(
        "presence_1",
        "While we talked it was as if somebody were there.",
        "交谈的时候，我觉得好像真有人在那里。",
        subscale="social_presence",
    ),
    likert(
        "presence_2",
        "I felt that I had company.",
        "我感觉有人在陪伴我。",
        subscale="social_presence",
    ),
    likert(
        "presence_3",
        "It was like operating a machine.",
        "感觉像是在操作一台机器。",
        subscale="social_presence",
        reverse=True,
    ),
    likert(
        "presence_4",
        "There was something personal about the AI's replies.",
        "AI 的回复让人感到亲切。",
        subscale="social_presence",
    ),
    stands_for=(
        "social presence, Gefen, D., & Straub, D. W. (2004). Consumer trust in B2C e-commerce and "
        "the importance of social presence. Omega, 32(6), 407–424, here of a conversation."
    ),
)
