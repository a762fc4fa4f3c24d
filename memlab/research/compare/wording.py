"""What the page says, in both languages: (English, simplified Chinese)."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "title": ("Memory architectures compared", "记忆架构对照"),
    "lead": (
        "Recorded dialogues, lived through by the code of the live chat under each architecture, "
        "and then asked the same questions.",
        "把录下的对话按原来的时间交给正式聊天所用的同一套代码，在每种架构下各过一遍，再问同样的问题。",
    ),
    "warning": (
        "These figures say what an architecture brings into the prompt. They don't say how a "
        "model uses it, nor what people make of it. An architecture that forgets by design "
        "covers less, and that is no fault.",
        "这些数字只说明一种架构把什么带进了提示词，不说明模型怎样使用它，也不说明人会有什么感受。"
        "有意遗忘的架构覆盖率较低，这不是缺陷。",
    ),
    "arm": ("Architecture", "架构"),
    "report": ("Report", "报告"),
    "dialogue": ("Dialogue", "对话"),
    "dialogues": ("Dialogues", "对话数"),
    "turns": ("Turns", "轮数"),
    "probes": ("Questions", "提问数"),
    "coverage": ("Evidence coverage", "证据覆盖率"),
    "coverage_help": (
        "Mean share of a question's evidence whose content stands in the prompt, in whatever form.",
        "每个问题的证据消息中，其内容（不论以何种形式）出现在提示词里的平均比例。",
    ),
    "recall": ("Evidence recall @{}", "证据召回率 @{}"),
    "recall_help": (
        "Mean share of the evidence among the k best of everything encoded, ranked by relevance "
        "alone. – where an architecture searches nothing.",
        "仅按相关度排序，证据落在全部已编码内容前 k 名之内的平均比例。不检索的架构记为 –。",
    ),
    "tokens": ("Prompt tokens, mean", "提示词词元数（均值）"),
    "tokens_p95": ("Prompt tokens, p95", "提示词词元数（p95）"),
    "latency": ("Recall, ms p50", "召回耗时 ms（p50）"),
    "latency_p95": ("Recall, ms p95", "召回耗时 ms（p95）"),
    "latency_help": (
        "Of this machine; good for comparing the rows of one report, not for more.",
        "与运行的机器有关，只宜在同一份报告内比较。",
    ),
    "degraded": ("Degraded", "降级次数"),
    "overview": ("All dialogues together", "全部对话合计"),
    "each": ("Dialogue by dialogue", "逐个对话"),
    "memories": ("Memories after each session", "每次会话之后的记忆数量"),
    "no_memories": (
        "None of these architectures keeps memories of its own.",
        "这些架构都不另存记忆。",
    ),
    "knew": ("What each knew when it was asked", "提问时各自知道些什么"),
    "first": (
        "The first {} of {} questions; --probes shows more.",
        "共 {1} 个问题，此处为前 {0} 个；用 --probes 可显示更多。",
    ),
    "nothing": ("nothing of earlier sessions", "没有以往会话的任何内容"),
    "more": ("… {} more lines", "……还有 {} 行"),
    "session": ("session {}", "第 {} 次会话"),
    "runs": ("How it was run", "运行方式"),
    "language": ("中文", "English"),
    "missing": ("not in this report", "此报告中没有"),
}
