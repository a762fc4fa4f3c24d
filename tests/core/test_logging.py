"""What a web process says of its tasks."""

from __future__ import annotations

import pytest
from django_q.tasks import async_task


@pytest.mark.django_db
def test_that_a_task_was_queued_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="django-q"):
        async_task("chat.tasks.run_steps", 1, "nobody")
    assert caplog.messages == []
