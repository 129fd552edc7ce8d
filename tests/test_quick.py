"""Bounds on the processor's time grow on slow machines, and only there."""

import time

import pytest

from tests import quick


@pytest.mark.parametrize(
    "taken, fixed, attempts",
    [
        ([1.9], [], 1),
        ([2.1, 1.9], [quick.FIXED_WORK], 2),
        ([2.1], [1.5 * quick.FIXED_WORK], 1),
        ([3.1, 3.1, 3.1], [1.5 * quick.FIXED_WORK] * 3, None),
        ([2.1, 2.1, 2.1], [0.1 * quick.FIXED_WORK] * 3, None),
    ],
)
def test_work_is_tried_again_and_held_against_fixed_work(
    taken: list[float], fixed: list[float], attempts: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, tried = [0.0], []
    monkeypatch.setattr(time, "process_time", lambda: now[0])

    def work() -> None:
        now[0] += taken[len(tried)]
        tried.append(now[0])

    def fixed_work() -> None:
        now[0] += fixed[len(tried) - 1]

    monkeypatch.setattr(quick, "fixed_work", fixed_work)
    if attempts is None:
        with pytest.raises(AssertionError, match="seconds of the processor, not less than 2"):
            quick.assert_quick(work, 2.0)
    else:
        quick.assert_quick(work, 2.0)
    assert len(tried) == (attempts or quick.ATTEMPTS)
