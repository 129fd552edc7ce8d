"""The default learner against one learner alone and the best modes of Vowpal Wabbit.

``python -m benchmarks.defaults race`` makes one progressive pass over each stream. Vowpal Wabbit
is represented twice: by the best of its modes at its own learning rates, and by the best of all
modes of ``benchmarks/vw_modes.py``. Both are chosen for each measure and each stream by itself,
with hindsight. All learners get the kinder of two treatments of ties
(``benchmarks/tied_measures.py``). Times are processor times, measured alternately.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import Any

from benchmarks import streams
from benchmarks.learners import RACE, TODAY, make_learner
from benchmarks.markdown import table
from benchmarks.streams import Stream
from benchmarks.tied_measures import Ranking, TiedRanking, tied_ranking
from benchmarks.turns import Ratio, take_turns
from benchmarks.verdicts import Verdict
from benchmarks.vw_modes import VwResult, all_modes

STREAMS = [
    "debtags",
    "newsgroups",
    "bibtex",
    "tmc2007",
    "rcv1",
    "rcv1-shuffled",
    "rcv1-sub2",
    "mediamill",
    "mediamill-shuffled",
    "yeast",
    "scene",
    "emotions",
    "flags",
    "medical",
    "pydocs",
]
CONFIRMATION = [
    "sections",
    "source",
    "newsgroups-test",
    "mediamill-test",
    *(f"{name}-test" for name in streams.MULAN),
]
"""Streams on which no default was chosen."""

HIGHER, LOWER = 1, -1
MEASURES = {"average_precision": HIGHER, "one_error": LOWER, "ranking_loss": LOWER}
LONG = 5000
"""Number of rows from which the goal for the time holds; such streams are timed once."""

VW_CHOICES = {False: "VW at its own rates", True: "VW, all modes"}
"""Whether tuned modes of VW may be chosen, and how tables call the choice."""

SHORT_TURNS = 3
MOST_PRECISION_LOSSES, LEAST_GAIN, LARGEST_DROP = 1, 0.02, 0.003
MOST_TIME, MOST_TIME_PER_STREAM = 2.5, {"debtags": 1.5}


@dataclass(frozen=True)
class Line:
    """One stream: the measures of both learners and of all modes of Vowpal Wabbit."""

    name: str
    rows: int
    today: TiedRanking
    race: TiedRanking
    ratio: Ratio
    vw: list[VwResult] = field(default_factory=list)

    def best_vw(self, measure: str, tuned: bool = True) -> VwResult:
        """The best mode by a measure, with the kinder treatment of ties.

        Parameters
        ----------
        measure : str
            A name from ``MEASURES``.
        tuned : bool, default True
            Whether to choose among all modes, or among those with VW's own learning rates only.
        """
        return max(
            (one for one in self.vw if tuned or not one.tuned),
            key=lambda one: MEASURES[measure] * getattr(one.ranking.kinder, measure),
        )

    def beats_vw(self, measure: str, tuned: bool = True) -> bool:
        """Whether the race is strictly better than the best mode; ``tuned`` as in ``best_vw``."""
        best = getattr(self.best_vw(measure, tuned).ranking.kinder, measure)
        return bool(MEASURES[measure] * (getattr(self.race.kinder, measure) - best) > 0)

    @property
    def gain(self) -> float:
        """Average precision of the race above today's."""
        return self.race.kinder.average_precision - self.today.kinder.average_precision


def measure(stream: Stream, with_vw: bool) -> Line:
    """Learn a stream with both learners, alternately, and with all modes of Vowpal Wabbit."""
    found: dict[str, Any] = {}

    def learn(name: str) -> None:
        found[name] = make_learner(name).predict_then_learn(stream.X, stream.Y)

    print(stream.describe(), file=sys.stderr, flush=True)
    turns = 1 if stream.rows >= LONG else SHORT_TURNS
    work = {name: partial(learn, name) for name in (TODAY, RACE)}
    times = take_turns(work, turns, clock=time.process_time)
    today, race = (tied_ranking([found[name]], stream.Y) for name in (TODAY, RACE))
    ratio = times[RACE].over(times[TODAY])
    vw = list(all_modes(stream)) if with_vw else []
    return Line(stream.name, stream.rows, today, race, ratio, vw)


def cells(line: Line) -> list[str]:
    """The row of a stream: per measure today, the race, and the best mode with its name."""
    found = [line.name]
    for name in MEASURES:
        found += [_figure(getattr(one.kinder, name)) for one in (line.today, line.race)]
        for tuned in VW_CHOICES if line.vw else ():
            best = line.best_vw(name, tuned)
            found.append(f"{_figure(getattr(best.ranking.kinder, name))} ({best.mode})")
    return [*found, str(line.ratio)]


def headers(with_vw: bool) -> list[str]:
    """The headers that belong to ``cells``."""
    names = [TODAY, RACE, *(VW_CHOICES.values() if with_vw else ())]
    measures = [f"{measure.replace('_', ' ')}: {name}" for measure in MEASURES for name in names]
    return ["stream", *measures, "time, race / today"]


def ties_table(lines: Sequence[Line]) -> str:
    """Both treatments of ties, for the modes that are best by the kinder one and both learners."""

    def both(ranking: TiedRanking, name: str) -> str:
        return f"{_figure(getattr(ranking.strict, name))} / {_figure(getattr(ranking.even, name))}"

    rows = [
        [line.name, *(both(line.best_vw(m).ranking, m) for m in MEASURES)]
        + [both(line.race, m) for m in MEASURES]
        for line in lines
    ]
    names = [f"{m.replace('_', ' ')}: {who}" for who in ("VW", RACE) for m in MEASURES]
    return table(["stream", *names], rows)


def verdicts(lines: Sequence[Line]) -> Iterator[Verdict]:
    """The goals of the default learner."""
    if all(line.vw for line in lines):
        goals = (("average_precision", MOST_PRECISION_LOSSES), ("ranking_loss", 0))
        for (tuned, choice), (name, allowed) in product(VW_CHOICES.items(), goals):
            lost = [line.name for line in lines if not line.beats_vw(name, tuned)]
            most = f"all but {allowed}" if allowed else "all"
            yield Verdict(
                f"better {name.replace('_', ' ')} than the best of {choice} on {most}",
                len(lost) <= allowed,
                f"better on {len(lines) - len(lost)} of {len(lines)}{_named(lost)}",
            )
    mean = sum(line.gain for line in lines) / len(lines)
    yield Verdict(
        f"mean average precision at least {LEAST_GAIN} above today's",
        mean >= LEAST_GAIN,
        f"{mean:+.4f}",
    )
    worst = min(lines, key=lambda line: line.gain)
    yield Verdict(
        f"no stream more than {LARGEST_DROP} below today's",
        worst.gain >= -LARGEST_DROP,
        f"the worst is {worst.name}, {worst.gain:+.4f}",
    )
    for line in lines:
        most_time = MOST_TIME_PER_STREAM.get(line.name, MOST_TIME)
        if line.rows >= LONG:
            yield Verdict(
                f"{line.name} in at most {most_time} times today's time",
                line.ratio.median <= most_time,
                str(line.ratio),
            )


def means(lines: Sequence[Line]) -> str:
    """The means over the streams, as a sentence."""

    def of(rankings: Sequence[Ranking]) -> str:
        values = (sum(getattr(one, m) for one in rankings) / len(rankings) for m in MEASURES)
        return " / ".join(_figure(value) for value in values)

    parts = [
        f"today {of([line.today.kinder for line in lines])}",
        f"race {of([line.race.kinder for line in lines])}",
    ]
    if all(line.vw for line in lines):
        for tuned, choice in VW_CHOICES.items():
            best = [
                Ranking(*(getattr(line.best_vw(m, tuned).ranking.kinder, m) for m in MEASURES))
                for line in lines
            ]
            parts.append(f"{choice} {of(best)}")
    return f"Means (average precision / one-error / ranking loss): {', '.join(parts)}."


def report(names: Sequence[str], with_vw: bool) -> None:
    """Measure the streams and print the tables and verdicts; streams without data are left out."""
    if with_vw and not find_spec("vowpalwabbit"):
        print("Vowpal Wabbit is not installed; it is left out.\n")
        with_vw = False
    lines = []
    for name in names:
        try:
            lines.append(measure(streams.load(name), with_vw))
        except streams.NoData as missing:
            print(f"{name} is left out: {missing}\n")
    if not lines:
        return
    print(table(headers(with_vw), [cells(line) for line in lines]))
    print(f"\n{means(lines)}\n")
    if with_vw:
        print("Ties counted as errors / as the mean over all orders:\n")
        print(f"{ties_table(lines)}\n")
    for verdict in verdicts(lines):
        print(verdict)


def _figure(value: float) -> str:
    return f"{value:.4f}"


def _named(names: Sequence[str]) -> str:
    return f" (not on {', '.join(names)})" if names else ""
