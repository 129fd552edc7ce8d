"""P3's game on a stream, for learners with partial feedback and for OBR, which sees all labels.

A learner with partial feedback only learns whether the labels that it shows are relevant. A game is
one pass over a stream in its order; the loss of each round is computed when it is played. Games:

- ``decreasing``: a = 1/2 and costs (s - i + 1)/s; its loss over time and its partial ranking loss.
- ``constant``: a = 1/2 and costs 1; twice its loss is the Hamming loss.
- ``ranking``: a = 1, so that exactly S labels are shown, as in Theorem 5. The paper states a = 1/2
  for all experiments, so its verdicts use the partial ranking loss of ``decreasing``.

What OBR learns does not depend on what it shows, so one run gives its lists for all games and S.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.feature_extraction import FeatureHasher

from benchmarks import streams
from experiments.experiment import MissingData, Result, Settings
from tagalong import PartialFeedbackRanker
from tagalong.evaluate import best_list, list_losses

GAMES: dict[str, dict[str, Any]] = {
    "decreasing": {"miss_weight": 0.5, "slot_cost": "decreasing"},
    "constant": {"miss_weight": 0.5, "slot_cost": "constant"},
    "ranking": {"miss_weight": 1.0, "slot_cost": "decreasing"},
}
CURVE_POINTS = 50
"""Points of a curve of running means."""

HASHED = 98
"""Number of buckets for words: the number of features of Sony CSL Paris."""

Rows = npt.NDArray[np.float32]
Lists = list[list[int]]


@cache
def load(name: str, signed: bool = False) -> tuple[Rows, sp.csr_matrix]:
    """Return dense rows and their labels; of texts, a row has the word count per bucket.

    Hashing with signs gives features without a constant part.
    """
    try:
        found = streams.load(name)
    except streams.NoData as missing:
        text = str(missing).replace(os.environ.get(streams.DATA_VARIABLE) or "\0", "a folder")
        raise MissingData(f"the stream {name}: {text}") from None
    X = found.X
    if sp.issparse(X):
        hasher = FeatureHasher(HASHED, input_type="string", alternate_sign=signed)
        X = (X @ hasher.transform([str(word)] for word in range(found.features))).toarray()
    return np.ascontiguousarray(X, dtype=np.float32), found.Y


def played_rows(settings: Settings) -> tuple[Rows, sp.csr_matrix]:
    """Return the rows that a cell plays: the first rows, in stream order or shuffled."""
    X, Y = load(settings["stream"], settings.get("signed", False))
    order = np.arange(X.shape[0])
    if settings.get("shuffled"):
        order = np.random.default_rng(0).permutation(order)
    order = order[: settings["rows"] or None]
    return X[order], Y[order]


def play(settings: Settings) -> Result:
    """Play one game with a learner with partial feedback; return the outcome for each S."""
    X, Y = played_rows(settings)
    labels = Y.shape[1]
    found = []
    for slots in settings["slots"]:
        max_labels = slots or labels
        ranker = PartialFeedbackRanker(
            **GAMES[settings["game"]],
            **settings["learner"],
            max_labels=max_labels,
            dtype="float32",
        ).add_labels(range(labels))
        played = ranker.play(X, Y)
        found.append(
            outcome(played.shown, played.losses, played.partial_rank_losses, Y, max_labels)
        )
    return {"labels": labels, "rounds": len(X), "slots": found}


def obr(settings: Settings) -> Result:
    """Play all games with OBR; return the outcomes for each S."""
    X, Y = played_rows(settings)
    labels = Y.shape[1]
    ranker = PartialFeedbackRanker(update="full", dtype="float32").add_labels(range(labels))
    probabilities = (1 + np.clip(ranker.watch(X, Y).scores, -1, 1)) / 2
    games = {}
    for name, game in GAMES.items():
        found = []
        for slots in settings["slots"]:
            max_labels = slots or labels
            shown = best_lists(probabilities, max_labels, game)
            losses, partial = list_losses(shown, relevant(Y), slots=max_labels, **game)
            found.append(outcome(shown, losses, partial, Y, max_labels))
        games[name] = found
    likely = float(np.asarray(Y.mean(axis=0)).max())
    return {"labels": labels, "rounds": len(X), "likely": round(likely, 4), "games": games}


def candidate(settings: Settings) -> Result:
    """Return the Hamming losses of OBR, of partial feedback at each width, and of empty lists."""
    X, Y = played_rows(settings)
    labels, slots = Y.shape[1], min(settings["slots"], Y.shape[1])

    def hamming(**learner: Any) -> float:
        ranker = PartialFeedbackRanker(
            **GAMES["constant"], **learner, max_labels=slots, dtype="float32"
        ).add_labels(range(labels))
        return round(2 * float(ranker.play(X, Y).losses.mean()), 4)

    return {
        "labels": labels,
        "rounds": len(X),
        "stream_rows": int(load(settings["stream"])[0].shape[0]),
        "nothing": round(Y.nnz / len(X), 4),
        "obr": hamming(update="full"),
        "partial": [hamming(exploration=width) for width in settings["widths"]],
    }


def best_lists(
    probabilities: npt.NDArray[np.floating], max_labels: int, game: dict[str, Any]
) -> Lists:
    """Return the best list of labels of each row, given the probabilities."""
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :max_labels]
    descending = np.take_along_axis(probabilities, order, axis=1)
    sizes = [len(best_list(row, **game, max_labels=max_labels)) for row in descending]
    return [row[:size].tolist() for row, size in zip(order, sizes, strict=True)]


def relevant(Y: sp.csr_matrix) -> Lists:
    return [
        Y.indices[start:end].tolist() for start, end in zip(Y.indptr, Y.indptr[1:], strict=False)
    ]


def outcome(
    shown: Lists,
    losses: npt.NDArray[np.float64],
    partial: npt.NDArray[np.float64],
    Y: sp.csr_matrix,
    max_labels: int,
) -> Result:
    """Return means over all rounds, and the curve of the running mean of the loss."""
    ends = np.unique(np.linspace(1, len(losses), CURVE_POINTS).astype(int))
    running_means = np.cumsum(losses)[ends - 1] / ends
    sizes = np.array([len(row) for row in shown])
    rows = np.repeat(np.arange(len(shown)), sizes)
    columns = np.concatenate([np.asarray(row, dtype=int) for row in shown])
    common = int(np.asarray(Y.sum(axis=0)).argmax())
    return {
        "loss": round(float(losses.mean()), 5),
        "rank": round(float(partial.mean()) / max_labels, 5),
        "shown": round(float(sizes.mean()), 4),
        "hits": round(float(np.asarray(Y[rows, columns]).sum()) / len(shown), 4),
        "met": len(np.unique(columns)),
        "common": round(float(np.mean(columns == common) * len(columns)) / len(shown), 4),
        "curve": [
            [int(end), round(float(mean), 4)] for end, mean in zip(ends, running_means, strict=True)
        ],
    }
