"""Tests of the limits of processor time: they are scaled on slow machines only."""

import time

import pytest

from tests import cpu_time


@pytest.mark.parametrize(
    "taken, fixed, attempts",
    [
        ([1.9], [], 1),
        ([2.1, 1.9], [cpu_time.FIXED_WORK], 2),
        ([2.1], [1.5 * cpu_time.FIXED_WORK], 1),
        ([3.1, 3.1, 3.1], [1.5 * cpu_time.FIXED_WORK] * 3, None),
        ([2.1, 2.1, 2.1], [0.1 * cpu_time.FIXED_WORK] * 3, None),
    ],
)
def test_work_is_repeated_and_compared_with_fixed_work(
    taken: list[float], fixed: list[float], attempts: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    tried: list[float] = []
    monkeypatch.setattr(time, "process_time", lambda: now[0])

    def work() -> None:
        now[0] += taken[len(tried)]
        tried.append(now[0])

    def fixed_work() -> None:
        now[0] += fixed[len(tried) - 1]

    monkeypatch.setattr(cpu_time, "fixed_work", fixed_work)
    if attempts is None:
        with pytest.raises(AssertionError, match="seconds of processor time, the limit is 2"):
            cpu_time.assert_cpu_time(work, 2.0)
    else:
        cpu_time.assert_cpu_time(work, 2.0)
    assert len(tried) == (attempts or cpu_time.ATTEMPTS)
