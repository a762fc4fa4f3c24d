"""Codes that rows keep, in the words that staff read."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from experiments.back_office.codes import all_told, told, told_failure
from experiments.enums import AuditAction
from experiments.models import AuditEntry, Lab
from memlab.core.llm.base import FailureKind
from memlab.core.tenancy import lab_scope
from memory.admin.counts import refused, written
from memory.architectures.base import NO_QUERY_VECTOR
from memory.architectures.compression import CHANGED_MEANWHILE
from memory.architectures.compression_upkeep import SUMMARIES_MISSING
from memory.architectures.homeostatic import OVERTAKEN
from tests.people import signed_in
from tests.studies import make_study


@pytest.mark.parametrize(
    ("code", "english", "chinese"),
    [
        ("embedding:timeout", "embedding: no answer in time", "嵌入：超时未答复"),
        (
            "ModelFailure:rate_limit",
            "model: the provider's rate limit",
            "模型：超出服务商的速率限制",
        ),
        ("memory_busy", "the memory was being written", "记忆正在写入"),
        (
            "memory_pending:maintain",
            "a memory step was still pending: memory maintenance",
            "仍有等待中的记忆步骤：记忆维护",
        ),
        (
            "turn 3: extraction:invalid_json",
            "message 3: extraction: the answer could not be read",
            "第 3 条消息：提取：答复无法解析",
        ),
        ("error:KeyError", "error of the platform: KeyError", "系统错误：KeyError"),
        ("garden:frost", "garden:frost", "garden:frost"),
        ("", "", ""),
    ],
)
def test_a_code_is_told_in_the_language_of_the_page(code: str, english: str, chinese: str) -> None:
    with override("en"):
        assert told(code) == english
    with override("zh-hans"):
        assert told(code) == chinese


def test_every_failure_and_every_code_of_the_memories_has_words() -> None:
    codes = [*FailureKind, NO_QUERY_VECTOR, CHANGED_MEANWHILE, SUMMARIES_MISSING, OVERTAKEN]
    assert [code for code in codes if told(code) == code] == []


def test_several_codes_of_a_step() -> None:
    with override("en"):
        failure = told_failure("embedding:timeout, maintenance_unfinished")
        assert failure == "embedding: no answer in time; maintenance made no progress"
    assert told_failure("") == all_told([]) == ""


def test_an_audit_entry_says_what_was_done_to_what() -> None:
    entry = AuditEntry(action=AuditAction.UNBLIND, target_kind="experiments.Participant")
    with override("zh-hans"):
        assert (entry.action_label, entry.kind_label) == ("揭盲", "参与者")
    unknown = AuditEntry(action="watered", target_kind="garden.Bed")
    assert (unknown.action_label, unknown.kind_label) == ("watered", "garden.Bed")


def test_what_a_run_wrote_and_refused() -> None:
    with override("zh-hans"):
        assert written({"trait": 1, "episode": 3}) == "情景记忆: 3, 画像条目: 1"
        assert written({"fact": 2, "sleep": 1}) == "事实: 2, 睡眠巩固: 1"
        assert refused({"appraisal:unknown_event": 1, "unknown_event": 2, "new": 1}) == (
            "new: 1, 事件无效: 3"
        )


def test_the_audit_log_and_its_filters_are_in_words(lab: Lab) -> None:
    study = make_study(lab)
    client = signed_in("Alice", lab)
    with lab_scope(lab.pk):
        AuditEntry.objects.record(AuditAction.OPEN_STUDY, target=study)
    page = client.get("/admin/experiments/auditentry/?action=open_study")
    listed = page.context["cl"]
    assert [entry.action_label for entry in listed.result_list] == ["opened the study"]
    assert [
        [str(choice["display"]) for choice in each.choices(listed)] for each in listed.filter_specs
    ] == [["All", "opened the study"], ["All", "study"]]
    assert "open_study</" not in page.content.decode()
