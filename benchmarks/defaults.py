"""The measurements behind the defaults of LabelRanker: one setting changed at a time.

``python -m benchmarks.defaults default`` prints a table; ``--help`` lists the groups. The group
``race`` compares the default with one learner alone and with Vowpal Wabbit. Every figure is
progressive, over one pass. benchmarks/defaults.md has the tables.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from benchmarks import defaults_race, streams
from benchmarks.measures import Measures, Progressive
from tagalong import LabelRanker
from tagalong.online.label_ranker import learner as label_ranker

STREAMS = ["bibtex", "tmc2007", "rcv1", "mediamill", "newsgroups", "debtags"]
RATE = "rate"
RACE = "race"

ENTROPIC: dict[str, Any] = {"geometry": "entropic"}
EUCLIDEAN: dict[str, Any] = {"geometry": "euclidean"}
GROUPS: dict[str, list[dict[str, Any]]] = {
    "default": [
        {},
        *[{"C": C} for C in (1, 3, 30, 100)],
        *[{"temperature": T} for T in (0.02, 0.1, 0.2, 0.5)],
        *[{"constant": value} for value in (0, 0.25, 1)],
        *[{RATE: rate} for rate in (1, 5, 10, 30)],
        {"average": False},
        {"average": True},
        {"update": "optimal"},
        {"update": "single"},
        {"geometry": "euclidean"},
        {"normalize": False},
    ],
    "margin": [{"margin": margin, "temperature": 0.05} for margin in (0.1, 0.3, 1, 3)],
    "euclidean": [
        {**EUCLIDEAN, "update": update, "C": C}
        for update in ("fixed", "single", "optimal", "simproj", "smooth")
        for C in (0.1, 1, 10)
    ],
    "entropic": [
        {**ENTROPIC, "update": update, "margin": margin}
        for update in ("single", "optimal", "smooth")
        for margin in (0.003, 0.01, 0.03, 0.1)
    ],
}


def measure(setting: dict[str, Any], stream: streams.Stream) -> Measures:
    """The measures of one progressive pass."""
    parameters = {name: value for name, value in setting.items() if name != RATE}
    rate = label_ranker.ADAPTIVE_RATE
    label_ranker.ADAPTIVE_RATE = setting.get(RATE, rate)
    try:
        scores = LabelRanker(**{"race": None, **parameters}).predict_then_learn(stream.X, stream.Y)
    finally:
        label_ranker.ADAPTIVE_RATE = rate
    total = Progressive()
    total.add(scores, stream.Y)
    return total.result()


def main() -> None:
    """Print the average precision per stream, and the means of all five measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=[*GROUPS, RACE])
    parser.add_argument("--streams", nargs="+", choices=streams.names(), metavar="NAME")
    parser.add_argument(
        "--confirm", action="store_true", help="race: streams on which nothing was chosen"
    )
    parser.add_argument("--without-vw", action="store_true", help="race: do not run Vowpal Wabbit")
    arguments = parser.parse_args()
    if arguments.group == RACE:
        usual = defaults_race.CONFIRMATION if arguments.confirm else defaults_race.STREAMS
        defaults_race.report(arguments.streams or usual, not arguments.without_vw)
        return
    arguments.streams = arguments.streams or STREAMS
    try:
        loaded = [streams.load(name) for name in arguments.streams]
    except streams.NoData as missing:
        sys.exit(str(missing))
    columns = [stream.name for stream in loaded]
    means = ["one-error", "any-mistake", "ranking loss", "average precision", "NDCG@5"]
    print("average precision on each stream, then means over the streams\n")
    print("| setting | " + " | ".join(columns + means) + " |")
    print("|---" * (1 + len(columns) + len(means)) + "|")
    for setting in GROUPS[arguments.group]:
        results = [measure(setting, stream) for stream in loaded]
        name = ", ".join(f"{key}={value}" for key, value in setting.items()) or "defaults"
        figures = [result.average_precision for result in results]
        for measure_name in Measures.__annotations__:
            if measure_name != "rows":
                values = [getattr(result, measure_name) for result in results]
                figures.append(sum(values) / len(values))
        print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
