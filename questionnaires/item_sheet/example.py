"""The example that staff download: an item of every type, in both languages, our own wording."""

from questionnaires.content import Condition, InstrumentContent, ItemContent, Option, Text
from questionnaires.enums import ItemType, MissingRule

_AGREE = {
    "minimum": 1.0,
    "maximum": 7.0,
    "low": Text(en="not at all", zh="完全不同意"),
    "high": Text(en="completely", zh="完全同意"),
}

EXAMPLE = InstrumentContent(
    key="example",
    title=Text(en="Evenings", zh="晚间生活"),
    introduction=Text(en="Think of the last seven days.", zh="请回想过去七天。"),
    citation="Our own wording, to show the columns. It measures nothing.",
    missing=MissingRule.SHARE,
    missing_share=0.75,
    items=(
        ItemContent(
            code="calm_1",
            type=ItemType.LIKERT,
            text=Text(en="My evenings were calm.", zh="我的晚上过得很平静。"),
            subscale="calm",
            **_AGREE,  # type: ignore[arg-type]
        ),
        ItemContent(
            code="calm_2",
            type=ItemType.LIKERT,
            text=Text(en="I went to bed in a hurry.", zh="我匆匆忙忙地上床睡觉。"),
            reverse=True,
            subscale="calm",
            **_AGREE,  # type: ignore[arg-type]
        ),
        ItemContent(
            code="attention_1",
            type=ItemType.LIKERT,
            text=Text(en="Please choose 6 here.", zh="此题请选6。"),
            expected=6.0,
            **_AGREE,  # type: ignore[arg-type]
        ),
        ItemContent(
            code="reads",
            type=ItemType.SINGLE,
            page=2,
            text=Text(en="Do you read before you sleep?", zh="您睡前看书吗？"),
            options=(
                Option(value=1, label=Text(en="often", zh="经常")),
                Option(value=2, label=Text(en="sometimes", zh="有时")),
                Option(value=3, label=Text(en="never", zh="从不")),
            ),
        ),
        ItemContent(
            code="book",
            type=ItemType.TEXT,
            page=2,
            text=Text(en="What are you reading?", zh="您在看什么书？"),
            required=False,
            condition=Condition(item="reads", operator="in", value=[1, 2]),
        ),
        ItemContent(
            code="lights",
            type=ItemType.MULTIPLE,
            page=2,
            text=Text(en="Which lights are on?", zh="开着哪些灯？"),
            options=(
                Option(value=1, label=Text(en="a lamp", zh="台灯")),
                Option(value=2, label=Text(en="candles", zh="蜡烛")),
                Option(value=3, label=Text(en="none", zh="都没有")),
            ),
        ),
        ItemContent(
            code="tired",
            type=ItemType.SLIDER,
            page=3,
            text=Text(en="How tired are you at ten?", zh="晚上十点时您有多累？"),
            minimum=0.0,
            maximum=100.0,
            step=5.0,
            low=Text(en="wide awake", zh="非常清醒"),
            high=Text(en="half asleep", zh="快睡着了"),
        ),
        ItemContent(
            code="mood",
            type=ItemType.DIFFERENTIAL,
            page=3,
            text=Text(en="My evenings are", zh="我的晚上是"),
            minimum=-3.0,
            maximum=3.0,
            low=Text(en="gloomy", zh="沉闷的"),
            high=Text(en="bright", zh="明快的"),
        ),
        ItemContent(
            code="close",
            type=ItemType.PICTURE,
            page=3,
            text=Text(
                en="Which picture shows you and your best friend?",
                zh="哪幅图最能表示您和您最好的朋友？",
            ),
            minimum=1.0,
            maximum=7.0,
        ),
        ItemContent(
            code="hours",
            type=ItemType.NUMBER,
            page=3,
            text=Text(en="How many hours do you sleep?", zh="您每晚睡几个小时？"),
            minimum=0.0,
            maximum=24.0,
            step=0.5,
        ),
        ItemContent(
            code="last_party",
            type=ItemType.DATE,
            page=3,
            text=Text(en="When did you last stay up late?", zh="您上一次熬夜是哪天？"),
            required=False,
        ),
    ),
)
