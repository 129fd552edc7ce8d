"""When linear M3L runs conjugate gradients: ``python -m benchmarks.m3l_schedule``.

A block of labels makes rounds of coordinate passes, each followed by steps of conjugate gradients
on its free variables. Their numbers are varied around those of the library. Rows have unit length,
C = 1, no prior. The columns are seconds of processor time of one thread, the median of
``--repeat`` turns in which all choices run alternately, and the certified relative duality gap of
each tolerance.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

from threadpoolctl import threadpool_limits

from benchmarks.m3l import Dataset, load
from benchmarks.markdown import table
from benchmarks.turns import take_turns
from tagalong import M3LClassifier
from tagalong import _native as core
from tagalong.batch.m3l.training import Solution, make_problem, solve_linear
from tagalong.learning.labels import Labels

CHOICES = ((75, 40), (40, 40), (150, 40), (75, 20), (75, 80), (75, 0))
"""Coordinate passes and steps of conjugate gradients per round: ours, and others."""
TOLERANCES = (0.1, 0.01, 0.001)


def solve(data: Dataset, tolerance: float, passes: int, steps: int) -> Solution:
    """Train with a choice of both numbers."""
    model = M3LClassifier(tol=tolerance, random_state=0)
    labels = Labels(range(data.Y.shape[1]))
    problem = make_problem(model, labels, labels.encode(data.Y), None)
    usual = model.checked_settings()
    settings = core.M3LSettings(
        tolerance=usual.tolerance,
        most_passes=usual.most_passes,
        threads=1,
        seed=usual.seed,
        cache_bytes=usual.cache_bytes,
        coordinate_passes=passes,
        cg_steps=steps,
    )
    return solve_linear(data.X, problem, settings, None, False)


def rows(name: str, limit: int | None, repeat: int) -> list[list[str]]:
    """The lines of a data set."""
    data, lines = load(name, limit), []
    for tolerance in TOLERANCES:
        work = {str(each): partial(solve, data, tolerance, *each) for each in CHOICES}
        times = take_turns(work, repeat, time.process_time)
        for passes, steps in CHOICES:
            found = solve(data, tolerance, passes, steps).summary
            taken = times[str((passes, steps))]
            ratio = taken.over(times[str(CHOICES[0])])
            lines.append(
                [
                    name,
                    f"{tolerance:g}",
                    str(passes),
                    str(steps),
                    f"{taken.median:.2f}",
                    str(ratio),
                    f"{found.duality_gap / found.dual_objective:.1e}",
                ]
            )
    return lines


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["rcv1"])
    parser.add_argument("--rows", type=int, help="rows of each set (default: as in benchmarks.m3l)")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    headers = (
        *("data set", "tol", "coordinate passes", "steps", "s"),
        *("time relative to ours", "gap"),
    )
    with threadpool_limits(1):
        lines = [line for name in given.sets for line in rows(name, given.rows, given.repeat)]
    print(table(headers, lines))


if __name__ == "__main__":
    main()
