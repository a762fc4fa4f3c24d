"""How an architecture that searches ranks what it finds: the same for all of them."""

from __future__ import annotations

from experiments.parameters import Parameter
from memory.enums import Ranking

RANKING = (
    Parameter(
        name="ranking",
        default=Ranking.DENSE.value,
        choices=tuple(choice.value for choice in Ranking),
        help_en=(
            "How what is found is ordered: by the similarity of embeddings (dense), as in the "
            "papers, or by fusing embeddings and words, each alone and in context (hybrid)."
        ),
        help_zh=(
            "检索结果如何排序：dense 按向量相似度（同论文）；"
            "hybrid 融合向量与词语两种匹配，各按单条与连同上文排序。"
        ),
        source="Cormack, Clarke & Büttcher (2009): reciprocal rank fusion",
    ),
    Parameter(
        name="fusion_k",
        default=20.0,
        minimum=0.0,
        maximum=1000.0,
        unit="ranks",
        help_en=(
            "With hybrid: how little the very first ranks outweigh the next ones; the larger, the "
            "more even."
        ),
        help_zh="ranking 为 hybrid 时：该值越大，排名靠前者的优势越小。",
        source="Cormack, Clarke & Büttcher (2009), with 60 for larger collections",
    ),
    Parameter(
        name="session_bonus",
        default=1.0,
        minimum=0.0,
        maximum=10.0,
        help_en=(
            "With hybrid: each score is raised by this many times the mean of its session's "
            "three best, since what answers a question seldom stands alone. 0: not at all."
        ),
        help_zh=(
            "ranking 为 hybrid 时：每条得分另加所属会话最佳三条平均得分的若干倍，"
            "因为答案的线索往往聚在同一次会话里；0 表示不加。"
        ),
    ),
)
