"""Rounds of a made-up learner with confidence, and naive counts of its answers."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tagalong.learning.labels import LabelRows
from tagalong.learning.places import PLACES_JUDGED, Places
from tagalong.learning.rounds import Round, Rounds
from tests.evaluate.streams import part


def confident_rounds(
    seed: int,
    rows: int,
    labels: int = 12,
    one_label: bool = True,
    unknown: float = 0.0,
    runs: Iterable[int] = (),
    width: int = PLACES_JUDGED,
) -> Rounds:
    """Rounds whose confidence grows, with as many right labels as the probabilities promise.

    The first row has no suggestion, as no label exists yet. In the rows `runs` the labels come in
    runs. With `unknown` that share of the labels has unknown relevance.
    """
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.3, 2.5, rows)[:, np.newaxis]
    scores = rng.normal(size=(rows, labels)) + 0.0
    truth = np.zeros((rows, labels), bool)
    for row in range(rows):
        count = 1 if one_label else int(rng.integers(0, 4))
        truth[row, rng.permutation(labels)[:count]] = True
    scores = (scores + 2 * skill * truth).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :width].astype(np.int32)
    ranked = np.take_along_axis(scores, order, axis=1)
    probabilities = 1 / (1 + np.exp(-3 * (ranked - 1.5 * skill)))
    assured = np.where(probabilities > 0.7, np.round(probabilities, 2), 0.0)
    in_runs = np.zeros(rows, bool)
    in_runs[list(runs)] = True
    assured[in_runs] = 0.0
    chosen = ranked >= 1.0
    if one_label:
        chosen = np.zeros_like(chosen)
        chosen[:, 0] = True
    order[0], probabilities[0], assured[0], chosen[0] = -1, 0.0, 0.0, False
    scores[0] = -np.inf
    is_unknown = (rng.random((rows, labels)) < unknown) & ~truth
    places = Places(
        labels=order,
        scores=ranked,
        probabilities=probabilities.astype(np.float64),
        assured=assured.astype(np.float64),
        chosen=chosen,
        whole=probabilities[:, 0] ** 2,
        known=np.full(rows, 7, np.int32),
        in_runs=in_runs,
    )
    return Rounds(
        scores,
        np.full(rows, 1.0),
        LabelRows.from_mask(truth),
        LabelRows.from_mask(is_unknown),
        places,
    )


def without_confidence(rounds: Rounds) -> Rounds:
    return Rounds(rounds.scores, rounds.cutoffs, rounds.relevant, rounds.unknown)


def some_of(rounds: Rounds, start: int, stop: int) -> Rounds:
    """Some rows of a batch, with their places."""
    found = part(rounds, start, stop)
    places = None if rounds.places is None else rounds.places[start:stop]
    return Rounds(found.scores, found.cutoffs, found.relevant, found.unknown, places)


def single(rounds: Rounds, row: int) -> Round:
    one = some_of(rounds, row, row + 1)
    relevant, unknown = one.relevant.indices.tolist(), one.unknown.indices.tolist()
    return Round(one.scores[0], float(one.cutoffs[0]), relevant, unknown, None, one.places)


class NaiveAnswers:
    """The counts of single rows, computed label by label."""

    def __init__(self, rounds: Rounds):
        self.rows = [_NaiveRow(rounds, row) for row in range(len(rounds.scores))]

    def counts(self, start: int = 0) -> dict[str, int]:
        found: dict[str, int] = {}
        for row in self.rows[max(0, start) :]:
            for name, count in row.counts().items():
                found[name] = found.get(name, 0) + count
        return found

    def first_sure(self, target: float) -> int | None:
        for number, row in enumerate(self.rows, 1):
            if row.is_sure(target):
                return number
        return None

    def macro_recall(self, start: int = 0) -> float:
        shares = []
        rows = [row for row in self.rows[max(0, start) :] if row.first is not None]
        for label in sorted({label for row in rows for label in row.relevant}):
            having = [row for row in rows if label in row.relevant]
            shares.append(sum(row.first == label for row in having) / len(having))
        return float(np.mean(shares))

    def confusion(self) -> dict[tuple[int, int], int]:
        found: dict[tuple[int, int], int] = {}
        for row in self.rows:
            if len(row.relevant) == 1 and row.first is not None and row.first not in row.relevant:
                pair = (next(iter(row.relevant)), row.first)
                found[pair] = found.get(pair, 0) + 1
        return found

    def calibration_error(self, kind: str, start: int = 0) -> float:
        answers = [answer for row in self.rows[start:] for answer in row.answers(kind)]
        bins: dict[int, list[tuple[float, bool]]] = {}
        for probability, right in answers:
            bins.setdefault(min(14, int(probability * 15)), []).append((probability, right))
        distances = [
            abs(sum(p for p, _ in found) - sum(right for _, right in found))
            for found in bins.values()
        ]
        return float(sum(distances) / len(answers))

    def label_counts(self, labels: int) -> npt.NDArray[np.int64]:
        table = np.zeros((labels, 5), np.int64)
        for row in self.rows:
            for label in range(labels):
                relevant = label in row.relevant
                table[label] += [
                    relevant and row.first is not None,
                    row.first == label,
                    relevant and row.first == label,
                    label in row.marked(0.95),
                    label in row.marked(0.95) and relevant,
                ]
        return table


class _NaiveRow:
    def __init__(self, rounds: Rounds, row: int):
        one = single(rounds, row)
        self.relevant, self.unknown = set(one.relevant), set(one.unknown)
        self.places: list[tuple[int, float, float, bool]] = []
        self.in_runs = self.has_confidence = False
        self.whole = 0.0
        if one.places is None:
            known = [i for i in range(len(one.scores)) if i not in self.unknown]
            known = [i for i in known if one.scores[i] > -np.inf]
            best = sorted(known, key=lambda i: (-one.scores[i], i))[:3]
            self.places = [(label, 0.0, 0.0, False) for label in best]
        else:
            self.has_confidence, self.in_runs = True, bool(one.places.in_runs[0])
            self.whole = float(one.places.whole[0])
            for place, label in enumerate(one.places.labels[0].tolist()):
                if label >= 0:
                    values = (one.places.probabilities, one.places.assured, one.places.chosen)
                    p, assured, chosen = (array[0, place] for array in values)
                    self.places.append((label, float(p), float(assured), bool(chosen)))

    @property
    def first(self) -> int | None:
        if not self.places or self.places[0][0] in self.unknown:
            return None
        return self.places[0][0]

    def marked(self, target: float) -> set[int]:
        places = self.places if self.has_confidence else []
        return {label for label, _, assured, _ in places if assured >= target} - self.unknown

    def is_sure(self, target: float) -> bool:
        return self.first is not None and self.first in self.marked(target)

    def answers(self, kind: str) -> list[tuple[float, bool]]:
        if not self.has_confidence:
            return []
        if kind == "whole":
            chosen = {label for label, _, _, is_chosen in self.places if is_chosen}
            return [(self.whole, chosen == self.relevant)] if self.first is not None else []
        first = self.places[: 1 if kind == "first" else 5]
        return [
            (p, label in self.relevant) for label, p, _, _ in first if label not in self.unknown
        ]

    def counts(self) -> dict[str, int]:
        known = [label for label, *_ in self.places if label not in self.unknown]
        top = {label for label, *_ in self.places[:3]} & set(known)
        is_right = self.first is not None and self.first in self.relevant
        found = {
            "rows": 1,
            "suggested": int(self.first is not None),
            "right": int(is_right),
            "right_of_3": int(self.first is not None and bool(top & self.relevant)),
            "judged": int(self.first is not None and self.has_confidence),
            "in_runs": int(self.in_runs),
            "one": int(len(self.relevant) == 1),
            "relevant": len(self.relevant) if self.has_confidence else 0,
        }
        for target in (0.9, 0.95, 0.99):
            percent = round(100 * target)
            marked = self.marked(target)
            found[f"sure_{percent}"] = int(self.is_sure(target))
            found[f"sure_right_{percent}"] = int(self.is_sure(target) and is_right)
            found[f"marked_{percent}"] = len(marked)
            found[f"marked_right_{percent}"] = len(marked & self.relevant)
        return found
