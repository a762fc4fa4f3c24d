"""The offline model's extraction patterns for Chinese, dimension by dimension.

Named groups fill a pattern's template; `what` stops at punctuation and at words
that begin another thought.
"""

from __future__ import annotations

import re

from memlab.core.llm.offline.rule import Rule

_ZH_STOP = r"(?=[，,。.；;！!？?\s]|但|不过|因为|所以|而且|然后|可是|$)"
_ZH = rf"(?P<what>[^，,。.；;！!？?\s]{{1,30}}?){_ZH_STOP}"
_VERY_ZH = r"(?:很|最|特别|非常|挺|比较|一直|也|还|都|真的|平时|从小就?|超级?|就|其实|蛮|更)*"
_KIN_ZH = (
    r"妈妈|爸爸|父母|父亲|母亲|奶奶|爷爷|外婆|外公|姐姐|妹妹|哥哥"
    r"|弟弟|女儿|儿子|孩子|老公|老婆|丈夫|妻子"
    r"|男朋友|女朋友|室友|闺蜜|朋友|同事|老板|导师"
)
_PET_ZH = r"猫咪?|狗狗?|小狗|小猫|兔子|仓鼠|鹦鹉|乌龟|金鱼"
_JOB_ZH = (
    r"老师|教师|医生|护士|程序员|工程师|设计师|学生|大学生|研究生"
    r"|博士生|硕士生|高中生|会计|律师|司机|厨师"
    r"|记者|编辑|销售|公务员|作家|画家|演员|店员|经理|产品经理|自由职业者|警察|研究员|翻译"
)
_TRAIT_ZH = (
    r"内向|外向|敏感|害羞|乐观|悲观|急性子|慢性子|完美主义者?|固执|安静|独立|粗心|细心|社恐|爱操心"
    r"|多愁善感|理性|感性|自律|拖延"
)
_EVENT_ZH = (
    r"分手|离婚|去世|过世|结婚|怀孕|失业|被裁|裁员|考上|没考上"
    r"|毕业|升职|住院|手术|搬家|辞职|吵架|失恋"
    r"|被拒|确诊|车祸|获奖|录取|订婚"
)
_FELT_ZH = (
    r"绝望|崩溃|害怕|恐惧|生气|伤心|难过|心碎|迷茫|焦虑|不安|孤独"
    r"|寂寞|自卑|内疚|后悔|失望|沮丧|担心"
    r"|激动|感动|自豪|骄傲|压力(?:很|好|太|特别)?大"
)


def _zh(
    dimension: str, pattern: str, template: str, key: str | None = None, *, felt: bool = False
) -> Rule:
    return Rule(dimension, re.compile(pattern), template, key, "zh-hans", felt)


CHINESE: tuple[Rule, ...] = (
    _zh(
        "basic_info",
        r"(?:我叫|我的名字(?:是|叫)|(?<!不)叫我)(?!他|她|它|你|了|不"
        r"|什么|外卖|车|人|醒)(?P<what>[^，,。.！!？?、\s的]{1,8})",
        "{what}",
        "name",
    ),
    _zh("basic_info", r"我(?:今年|刚满|已经)*(?P<what>\d{1,3})岁", "{what}", "age"),
    _zh(
        "basic_info",
        rf"我(?:现在|目前)?是(?:一名|一个|一位|名|个|位)?(?P<what>[^，,。.；;！!？?\s]{{0,10}}?(?:{_JOB_ZH})){_ZH_STOP}",
        "{what}",
        "occupation",
    ),
    _zh(
        "basic_info",
        r"我(?:现在|目前)?在(?P<what>[^，,。.；;！!？?\s]{2,14}?)(?:工作|上班|读书|读博|念书|上学)",
        "{what}",
        "workplace",
    ),
    _zh("basic_info", rf"我(?:现在|目前|一个人|一直)*(?:住在|生活在){_ZH}", "{what}", "residence"),
    _zh("basic_info", rf"我(?:来自|的?老家在|的?家乡[是在]){_ZH}", "{what}", "hometown"),
    _zh(
        "preferences",
        rf"我{_VERY_ZH}(?P<verb>喜欢|热爱|喜爱|迷上了?|爱(?!人|你|情)){_ZH}",
        "{verb}{what}",
    ),
    _zh(
        "preferences",
        rf"我{_VERY_ZH}(?P<verb>不(?:太|怎么|是很)?(?:喜欢|爱)|讨厌|受不了){_ZH}",
        "{verb}{what}",
    ),
    _zh("preferences", r"我(?:是|一直是)(?:一个|个)?(?P<what>素食主义者|素食者)", "{what}"),
    _zh("preferences", r"我(?:一直|平时|现在)*(?P<what>吃素)", "{what}"),
    _zh("constraints", r"我(?:从小)?(?P<what>对[^，,。.；;！!？?\s]{1,12}过敏)", "{what}"),
    _zh(
        "constraints",
        rf"我(?:现在|最近)?(?P<verb>不能|不可以)(?P<act>吃|喝|做|碰"
        rf"|熬夜|晒|跑){_ZH.replace('{1,30}', '{0,20}')}",
        "{verb}{act}{what}",
    ),
    _zh(
        "constraints",
        r"我(?P<what>有[^，,。.；;！!？?\s没]{1,10}(?:病|症|炎|障碍|不耐受))",
        "{what}",
    ),
    _zh(
        "goals",
        rf"我(?:现在|最近|一直|其实|也|正|正在|在|很)*(?P<verb>打算"
        rf"|想要|计划|希望能|准备|决定|梦想是?|的梦想是|的目标是|争取)(?!被"
        rf"|有人|得到){_ZH}",
        "{verb}{what}",
    ),
    _zh(
        "goals",
        rf"我(?:一直|真的|很|特别|也|还|最近)*(?P<verb>想)(?P<act>去"
        rf"|学|当|成为|考|换|写|买|开|找|做|试|减|存){_ZH}",
        "想{act}{what}",
    ),
    _zh(
        "personality",
        rf"我(?:这个人|性格|其实|比较|有点|有些|挺|很|是个?|一个|属于"
        rf"|天生|从小就?|非常|特别|的|、)*(?P<what>{_TRAIT_ZH})",
        "{what}",
    ),
    _zh(
        "social",
        rf"我(?:家里?|自己|们家)?(?P<verb>养了?|有)(?P<what>(?:[一两二三四五几]"
        rf"|\d)?(?:只|条|个)?[^，,。.；;！!？?\s没]{{0,6}}(?:{_PET_ZH}))",
        "{verb}{what}",
    ),
    _zh("social", rf"我(?:还)?有(?P<what>(?:[一两二三四五几]|\d)个(?:{_KIN_ZH}))", "有{what}"),
    _zh(
        "social",
        rf"我(?:的|家)?(?P<who>{_KIN_ZH})(?P<verb>叫|是|在|住在|喜欢)(?!不是)"
        rf"(?P<what>[^，,。.；;！!？?\s]{{1,16}}?){_ZH_STOP}",
        "{who}{verb}{what}",
    ),
    _zh(
        "social",
        rf"我(?:现在)?(?:和|跟)(?P<who>{_KIN_ZH})(?:们)?(?P<act>一起住"
        rf"|住在一起|关系很?(?:好|差|近)|合不来)",
        "和{who}{act}",
    ),
    _zh(
        "emotional_needs",
        rf"(?:我)?{_VERY_ZH}(?P<verb>希望|想|需要|渴望|盼着)(?P<what>(?:能)?(?:有人"
        rf"|被|得到|别人能)[^，,。.；;！!？?\s]{{1,20}}?){_ZH_STOP}",
        "{verb}{what}",
    ),
    _zh(
        "emotional_needs",
        r"(?P<what>(?:没有?人|没谁)(?:能|会)?(?:理解|懂|在乎|关心|听)我)",
        "觉得{what}",
    ),
    _zh(
        "core_values",
        r"(?P<what>[^，,。.；;！!？?\s]{1,14}?)(?:对我来说|对我而言"
        r"|在我心里|在我看来)(?:才|就)?是?(?P<qualifier>比什么都|最"
        r"|非常|很|特别)重要",
        "{what}{qualifier}重要",
    ),
    _zh(
        "core_values",
        r"(?:对我来说|对我而言|我觉得|我认为)[，,]?(?P<what>[^，,。.；;！!？?\s]{1,14}?)(?:才"
        r"|就)?是?(?P<qualifier>比什么都|最|非常)重要",
        "{what}{qualifier}重要",
    ),
    _zh(
        "core_values",
        rf"我{_VERY_ZH}(?P<verb>看重|重视|在乎|珍惜|坚信|相信(?!你|他|她|这|那|会|我)){_ZH}",
        "{verb}{what}",
    ),
    _zh(
        "significant_events",
        rf"(?:我|让我|自己){_VERY_ZH}(?P<what>[^，,。.；;！!？?\s我不没别你]{{0,16}}?(?:{_FELT_ZH})[^，,。.；;！!？?\s]{{0,12}}?){_ZH_STOP}",
        "{what}",
        felt=True,
    ),
    _zh(
        "significant_events",
        rf"(?:我的|我家|我们|我)(?P<what>(?:{_KIN_ZH})?[^，,。.；;！!？?\s不没]{{0,10}}?(?:{_EVENT_ZH})[^，,。.；;！!？?\s]{{0,10}}?){_ZH_STOP}",
        "{what}",
        felt=True,
    ),
)
