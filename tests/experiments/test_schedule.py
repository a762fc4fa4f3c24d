"""How stages stand: gaps, windows, what was begun, what was lost, and what staff extended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.configuration import StageConfiguration
from experiments.schedule import Course, OverMark, SessionMark, Slot, Standing, slots

START = datetime(2026, 3, 27, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
LOST = (Standing.MISSED, Standing.LAPSED)


def stage(number: int, **fields: Any) -> StageConfiguration:
    given: dict[str, Any] = {
        "number": number, "key": f"t{number}", "title": "", "briefing": "", "instructions": "",
        "opening_line": "", "topics": (), "minimum_gap_hours": 24.0, "window_hours": 48.0,
        "minimum_minutes": 0, "maximum_minutes": None, "minimum_turns": 0, "maximum_turns": None,
        "idle_minutes": 30, "manipulation": False, "finish_hours": 6.0,
    }  # fmt: skip
    return StageConfiguration(**{**given, **fields})


PAIR = (stage(1, minimum_gap_hours=0.0), stage(2))


def seen(hours: float, *, stages: Any = PAIR, ends: bool = False, **course: Any) -> list[Slot]:
    return slots(
        stages,
        Course(consented_at=START, **course),
        now=START + hours * HOUR,
        ends_on_missed=ends,
    )


def standings(hours: float, **course: Any) -> list[str]:
    return [str(slot.standing) for slot in seen(hours, **course)]


def test_a_stage_opens_after_its_gap_and_never_early() -> None:
    done = {"t1": SessionMark(ended_at=START + HOUR)}
    assert standings(0) == ["open", "later"]
    assert standings(24.999, sessions=done) == ["done", "later"]
    assert standings(25, sessions=done) == ["done", "open"]


def test_a_stage_that_nobody_began_is_missed_and_passes_on_when_its_window_closed() -> None:
    assert standings(47.999) == ["open", "later"]
    assert standings(48) == ["missed", "later"]
    missed = seen(48)
    assert missed[1].opens_at == START + 72 * HOUR
    assert standings(72) == ["missed", "open"]


def test_what_was_begun_may_be_finished_after_the_window_and_lapses_then() -> None:
    begun = {"t1": START + 47 * HOUR}
    assert standings(53.999, begun=begun) == ["in_progress", "later"]
    assert standings(54, begun=begun) == ["lapsed", "later"]
    assert seen(54, begun=begun)[1].opens_at == START + 78 * HOUR


def test_an_answer_after_the_window_begins_nothing() -> None:
    assert standings(49, begun={"t1": START + 48 * HOUR}) == ["missed", "later"]


def test_questionnaires_after_the_conversation_lapse_but_its_end_counts_for_the_gap() -> None:
    asked = {"t1": SessionMark(ended_at=START + HOUR, finished=False)}
    assert standings(53, sessions=asked) == ["in_progress", "open"]
    assert standings(54, sessions=asked) == ["lapsed", "open"]
    assert seen(54, sessions=asked)[1].opens_at == START + 25 * HOUR


def test_a_session_that_expired_has_lapsed() -> None:
    expired = {"t1": SessionMark(ended_at=START + 54 * HOUR, expired=True)}
    assert standings(55, sessions=expired) == ["lapsed", "later"]


def test_a_missed_stage_ends_participation_only_where_the_study_says_so() -> None:
    three = (*PAIR, stage(3))
    assert standings(500, stages=three) == ["missed", "missed", "missed"]
    assert standings(500, stages=three, ends=True) == ["missed", "forgone", "forgone"]
    lapsed = {"t1": START + HOUR}
    assert standings(500, stages=PAIR, ends=True, begun=lapsed) == ["lapsed", "forgone"]


def test_an_extension_puts_the_end_off_and_never_shortens() -> None:
    assert seen(0, extended={"t1": START + 60 * HOUR})[0].closes_at == START + 60 * HOUR
    assert seen(0, extended={"t1": START + 60 * HOUR})[0].finish_by == START + 66 * HOUR
    assert seen(0, extended={"t1": START + 10 * HOUR})[0].closes_at == START + 48 * HOUR
    assert standings(59, extended={"t1": START + 60 * HOUR}) == ["open", "later"]


def test_a_mark_stands_whatever_is_computed() -> None:
    mark = OverMark(standing=Standing.MISSED, at=START + 40 * HOUR)
    marked = seen(41, over={"t1": mark})
    assert [str(slot.standing) for slot in marked] == ["missed", "later"]
    assert marked[1].opens_at == START + 64 * HOUR


def test_openings_and_ends_are_put_off_to_their_times_of_day_where_the_participant_lives() -> None:
    kept = stage(1, minimum_gap_hours=0.0, opens_at="09:00", closes_at="21:00")
    berlin = seen(0, stages=(kept,), zone="Europe/Berlin")[0]
    # Friday noon UTC; the clocks go forward on Sunday the 29th.
    assert berlin.opens_at == datetime(2026, 3, 28, 8, 0, tzinfo=UTC)
    assert berlin.closes_at == datetime(2026, 3, 30, 19, 0, tzinfo=UTC)
    shanghai = seen(0, stages=(kept,), zone="Asia/Shanghai")[0]
    assert shanghai.opens_at == datetime(2026, 3, 28, 1, 0, tzinfo=UTC)
    assert shanghai.closes_at == datetime(2026, 3, 30, 13, 0, tzinfo=UTC)


def test_the_next_change_is_what_the_standing_waits_for() -> None:
    first, second = seen(1)
    assert first.next_change(START + HOUR) == START + 48 * HOUR
    assert second.next_change(START + HOUR) is None
    begun = seen(1, begun={"t1": START})[0]
    assert begun.next_change(START + HOUR) == START + 54 * HOUR


CLOCKS = st.sampled_from(["", "00:30", "02:30", "09:00", "23:59"])
STAGES = st.lists(
    st.builds(
        lambda gap, window, finish, opens, closes: {
            "minimum_gap_hours": gap, "window_hours": window, "finish_hours": finish,
            "opens_at": opens, "closes_at": closes,
        },
        st.floats(0, 200), st.none() | st.floats(0.1, 200), st.floats(0, 48), CLOCKS, CLOCKS,
    ),
    min_size=1,
    max_size=4,
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(
    fields=STAGES,
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Shanghai"]),
    hours=st.lists(st.floats(0, 2000), min_size=2, max_size=2).map(sorted),
    begun=st.dictionaries(st.sampled_from(["t1", "t2", "t3"]), st.floats(0, 900), max_size=2),
    ends=st.booleans(),
)
def test_what_always_holds_of_a_course(
    fields: list[dict[str, Any]], zone: str, hours: list[float], begun: dict[str, float], ends: bool
) -> None:
    stages = tuple(stage(number, **given) for number, given in enumerate(fields, start=1))
    course: dict[str, Any] = {
        "stages": stages,
        "zone": zone,
        "ends": ends,
        "begun": {key: START + after * HOUR for key, after in begun.items()},
    }
    early, late = (seen(moment, **course) for moment in hours)
    for slot, then, number in zip(early, late, range(len(stages)), strict=True):
        now = START + hours[0] * HOUR
        if slot.standing is Standing.OPEN:
            assert slot.opens_at is not None
            assert slot.opens_at <= now
            assert slot.closes_at is None or now < slot.closes_at
        if number and slot.opens_at is not None:
            # Only after everything before it is over, by its gap at least.
            assert all(before.standing.over for before in early[:number])
            passed = early[number - 1]
            ended = passed.closes_at if passed.standing is Standing.MISSED else passed.finish_by
            assert ended is not None
            assert slot.opens_at >= ended + slot.stage.minimum_gap_hours * HOUR
        if slot.standing.over:
            assert then.standing is slot.standing  # nobody comes back without an extension
        change = slot.next_change(now)
        if change is not None:
            assert change > now
