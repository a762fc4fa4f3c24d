"""Demo instruments on how a conversation went."""

from __future__ import annotations

from questionnaires.content import ItemContent, Text
from questionnaires.demo.wording import attention, demo, likert, text
from questionnaires.enums import ItemType

SATISFACTION = demo(
    "satisfaction",
    "Satisfaction",
    "满意度",
    likert(
        "satisfied_1",
        "All in all I am happy with how the conversation went.",
        "总的来说，我对这次对话感到满意。",
        subscale="satisfaction",
    ),
    likert(
        "satisfied_2",
        "The conversation gave me what I had hoped for.",
        "这次对话达到了我的期望。",
        subscale="satisfaction",
    ),
    likert(
        "satisfied_3",
        "The conversation was a let-down.",
        "这次对话让我失望。",
        subscale="satisfaction",
        reverse=True,
    ),
    likert(
        "satisfied_4",
        "The time for it was well spent.",
        "这段时间花得值得。",
        subscale="satisfaction",
    ),
    stands_for=(
        "satisfaction with use, Bhattacherjee, A. (2001). Understanding information systems "
        "continuance. MIS Quarterly, 25(3), 351–370."
    ),
)

UNDERSTANDING = demo(
    "understanding",
    "Perceived understanding",
    "被理解感",
    likert(
        "understood_1",
        "The AI caught what I was getting at.",
        "AI 明白我想表达的意思。",
        subscale="understanding",
    ),
    likert(
        "understood_2",
        "The AI could see things as I see them.",
        "AI 能站在我的角度看问题。",
        subscale="understanding",
    ),
    likert(
        "understood_3",
        "What matters to me went past the AI.",
        "AI 没有注意到对我来说重要的东西。",
        subscale="understanding",
        reverse=True,
    ),
    likert(
        "understood_4",
        "The AI had a sense of how I was feeling.",
        "AI 能体会到我的感受。",
        subscale="understanding",
    ),
    stands_for=(
        "the Perceived Understanding Instrument, Cahn, D. D., & Shulman, G. M. (1984). "
        "Communication Research Reports, 1(1), 122–125."
    ),
)

DISCLOSURE = demo(
    "self_disclosure",
    "Self-disclosure",
    "自我表露",
    likert(
        "disclosed_1",
        "I told the AI things that I don't tell just anybody.",
        "我对 AI 说了一些我不会随便对别人说的事。",
        subscale="self_disclosure",
    ),
    likert(
        "disclosed_2",
        "I was open about how I feel.",
        "我坦率地谈了自己的感受。",
        subscale="self_disclosure",
    ),
    likert(
        "disclosed_3",
        "I stayed on the surface.",
        "我只说了一些表面的内容。",
        subscale="self_disclosure",
        reverse=True,
    ),
    likert(
        "disclosed_4",
        "What I said about myself was the plain truth.",
        "我说的关于自己的事都是实话。",
        subscale="self_disclosure",
    ),
    likert(
        "disclosed_5",
        "The AI learned a good deal about my life.",
        "AI 从我这里了解了不少我的生活。",
        subscale="self_disclosure",
    ),
    stands_for=(
        "reported self-disclosure, Wheeless, L. R., & Grotz, J. (1976). Conceptualization and "
        "measurement of reported self-disclosure. Human Communication Research, 2(4), 338–346."
    ),
    randomised=True,
)

MANIPULATION = demo(
    "manipulation_check",
    "Manipulation check: perceived memory",
    "操纵检验：感知到的记忆",
    likert(
        "memory_1",
        "The AI still knew what I had told it on earlier days.",
        "AI 还记得我前几次告诉过它的事情。",
        subscale="perceived_memory",
    ),
    likert(
        "memory_2",
        "The AI came back to earlier details of its own accord.",
        "AI 会主动提起之前的细节。",
        subscale="perceived_memory",
    ),
    likert(
        "memory_3",
        "The AI talked as if we had never met.",
        "AI 说起话来就像我们从没聊过一样。",
        subscale="perceived_memory",
        reverse=True,
    ),
    likert(
        "memory_4",
        "Where the AI spoke of earlier conversations, it was right.",
        "AI 提到之前的对话时，说得是对的。",
        subscale="perceived_memory",
    ),
    likert(
        "memory_5",
        "What the AI remembered had to do with what we were talking about.",
        "AI 记起的内容与我们正在谈的话题有关。",
        subscale="perceived_memory",
    ),
    stands_for=(
        "a manipulation check of the study's own, for which there is no published scale; on such "
        "checks see Hauser, D. J., Ellsworth, P. C., & Gonzalez, R. (2018). Frontiers in "
        "Psychology, 9, 998."
    ),
)

INTELLIGENCE = demo(
    "intelligence",
    "Perceived intelligence",
    "感知智能",
    *(
        ItemContent(
            code=f"intelligent_{number}",
            type=ItemType.DIFFERENTIAL,
            text=Text(en="The AI came across as …", zh="AI 给我的印象是……"),
            minimum=1.0,
            maximum=5.0,
            low=low,
            high=high,
            subscale="intelligence",
        )
        for number, (low, high) in enumerate(
            (
                (Text(en="slow to grasp", zh="领会慢"), Text(en="quick to grasp", zh="领会快")),
                (Text(en="muddled", zh="思路混乱"), Text(en="clear-headed", zh="思路清晰")),
                (Text(en="thoughtless", zh="考虑不周"), Text(en="thoughtful", zh="考虑周全")),
            ),
            start=1,
        )
    ),
    stands_for=(
        "perceived intelligence in the Godspeed questionnaires, Bartneck, C., Kulić, D., Croft, "
        "E., & Zoghbi, S. (2009). International Journal of Social Robotics, 1, 71–81."
    ),
)

CONTINUANCE = demo(
    "continuance",
    "Continuance intention",
    "持续使用意愿",
    likert(
        "continue_1",
        "I would go on talking with this AI when the study is over.",
        "研究结束后，我还愿意继续和这个 AI 聊天。",
        subscale="continuance",
    ),
    likert(
        "continue_2",
        "If it were up to me, I would use this AI often.",
        "如果由我决定，我会经常使用这个 AI。",
        subscale="continuance",
    ),
    likert(
        "continue_3",
        "I would sooner try another AI than stay with this one.",
        "与其继续用这个 AI，我更愿意换一个试试。",
        subscale="continuance",
        reverse=True,
    ),
    likert(
        "continue_4",
        "I would tell friends to give this AI a try.",
        "我会建议朋友试试这个 AI。",
        subscale="continuance",
    ),
    stands_for=(
        "continuance intention, Bhattacherjee, A. (2001). Understanding information systems "
        "continuance. MIS Quarterly, 25(3), 351–370."
    ),
)

PRIVACY = demo(
    "privacy_concern",
    "Privacy concern",
    "隐私担忧",
    likert(
        "privacy_1",
        "It bothers me how much this AI knows about me by now.",
        "这个 AI 现在知道我这么多事，让我有些不舒服。",
        subscale="privacy_concern",
    ),
    likert(
        "privacy_2",
        "It makes me uneasy that my words are kept.",
        "我说过的话被保存下来，让我感到不安。",
        subscale="privacy_concern",
    ),
    likert(
        "privacy_3",
        "What I told this AI might be put to uses that I don't want.",
        "我告诉这个 AI 的内容可能会被用在我不希望的地方。",
        subscale="privacy_concern",
    ),
    likert(
        "privacy_4",
        "What I told this AI is in good hands.",
        "我告诉这个 AI 的内容得到了妥善的保护。",
        subscale="privacy_concern",
        reverse=True,
    ),
    likert(
        "privacy_5",
        "I left things out because somebody might read them.",
        "因为担心被别人看到，我有些话没有说。",
        subscale="privacy_concern",
    ),
    attention("privacy_check", 6),
    stands_for=(
        "Internet users' information privacy concerns, Malhotra, N. K., Kim, S. S., & Agarwal, J. "
        "(2004). Information Systems Research, 15(4), 336–355. One attention check, in no score."
    ),
    randomised=True,
)

OPEN = demo(
    "open_question",
    "Open question",
    "开放问题",
    text(
        "looking_back",
        "When you look back over the conversations, what has stayed with you most?",
        "回顾这几次对话，给您留下最深印象的是什么？",
    ),
    introduction=Text(),
    stands_for="an open question of the study's own.",
)
