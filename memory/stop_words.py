"""Words that say how a sentence is built and not what it is about, lower-cased, before stemming.

Negations are among them: what is found for "I don't like tea" is what is about tea.
"""

from __future__ import annotations

#: Articles, pronouns, prepositions, conjunctions, auxiliaries and what is left of contractions.
_ENGLISH = """
a an the
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself
they them their theirs themselves one ones
this that these those here there
who whom whose which what when where why how
someone somebody something anyone anybody anything everyone everybody everything
no not nor none nobody nothing never neither either both
any some all each every few many much more most less least other others another such own same
and or but if then else so than as because while though although unless until since whether
at by for from in into of off on onto out over to up down with without within about against
between through during before after above below under again further along across toward towards
am is are was were be been being do does did done doing have has had having
can could will would shall should might must ought
ai aren ca couldn didn doesn don hadn hasn haven isn mustn needn sha shan shouldn wasn weren
wo won wouldn cannot gonna gotta wanna
s t d n ll m re ve
just also too very really quite rather only even still yet already ever once
yes yeah yep ok okay oh hey hi hello well um uh hmm wow please thanks thank
get gets got getting let lets
"""

#: Particles, pronouns, prepositions, conjunctions, auxiliaries, measure words and greetings.
_CHINESE = """
的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 嗯 嘛 啦 哈 哎 唉 喔 噢 哇 呗 咯 嘿 喂 之 所 者 等 们
我 你 您 他 她 它 我们 你们 您们 他们 她们 它们 咱 咱们 自己 大家 人家 别人
这 那 哪 这个 那个 哪个 这些 那些 哪些 这里 那里 哪里 这儿 那儿 哪儿 这样 那样 这么 那么
这种 那种 这次 那次 这是 那是
谁 什么 怎么 怎样 怎么样 如何 为什么 为何 几 多少 何 何时 啥 咋
是 不是 有 没有 没 无 不 别 未 非 否 在 不在 会 不会 能 不能 能够 可以 不可以 可 可能 应该 应
该
要 不要 必须 让 使 令 叫 给 被 把 将 做 来 去 到 上 下 里 中 内 外 前 后 起来 出来
和 与 及 以及 或 或者 还是 并 并且 而 而且 但 但是 不过 可是 然而 只是 因为 因 由于 所以 因此
于是
如果 要是 假如 若 则 就 就是 虽然 尽管 即使 只要 只有 除了 既 既然 无论 不管 然后 接着 那就
从 自 向 往 对 对于 关于 为 为了 以 用 由 于 跟 同 比 按 按照 根据 通过 随着 当 像 好像
也 都 又 再 还 才 只 很 太 更 最 挺 真 真的 非常 特别 十分 比较 有点 有些 一些 一点 一下 一样
已 已经 曾 曾经 正 正在 刚 刚刚 刚才 总 总是 一直 经常 常常 有时 有时候 从来 每 每次 各 某 其
其他 其它 另 另外
个 位 种 次 些 点 件 只 条 张 句 下 回 遍 一 一个 一种 一次 两 两个
时 时候 的时候 的话 之前 之后 以前 以后 后来 现在 目前
说 说过 告诉 觉得 认为 知道 请 请问 谢谢 谢 你好 您好 好 好的 好吧 对不起 没关系 是的 嗯嗯
哈哈 哈哈哈
"""

ENGLISH = frozenset(_ENGLISH.split())
CHINESE = frozenset(_CHINESE.split())
