"""P3's game on a stream: learners that see what they show, and OBR, which sees all labels.

A stream is gone through once, in its order; losses are those of the rounds as they are played. The
games:

- ``decreasing``: a = 1/2 and costs (s - i + 1)/s. Its loss over time, and its partial ranking loss.
- ``constant``: a = 1/2 and costs 1; twice its loss is the Hamming loss.
- ``ranking``: a = 1, so that exactly S labels are shown: what Theorem 5 is about. The paper's
  experiments say a = 1/2 throughout.

OBR learns the same whatever it shows, so that one run gives its lists for all games and all S.
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
from experiments.experiment import Missing, Result, Settings
from tagalong import PartialFeedbackRanker
from tagalong.evaluate import best_list, list_losses

GAMES: dict[str, dict[str, Any]] = {
    "decreasing": {"miss_weight": 0.5, "slot_cost": "decreasing"},
    "constant": {"miss_weight": 0.5, "slot_cost": "constant"},
    "ranking": {"miss_weight": 1.0, "slot_cost": "decreasing"},
}
POINTS = 50
"""At so many moments the mean so far is kept."""

HASHED = 98
"""The features of Sony CSL Paris, which Debian's words are hashed to."""

Rows = npt.NDArray[np.float32]
Lists = list[list[int]]


@cache
def load(name: str, signed: bool = False) -> tuple[Rows, sp.csr_matrix]:
    """Return dense rows and their labels; of Debian tags, how many words fall in each bucket.

    Signed hashing makes features without a constant part.
    """
    try:
        found = streams.load(name)
    except streams.NoData as missing:
        text = str(missing).replace(os.environ.get(streams.VARIABLE) or "\0", "a folder")
        raise Missing(f"the stream {name}, as {text}") from None
    X = found.X
    if sp.issparse(X):
        hasher = FeatureHasher(HASHED, input_type="string", alternate_sign=signed)
        X = (X @ hasher.transform([str(word)] for word in range(found.features))).toarray()
    return np.ascontiguousarray(X, dtype=np.float32), found.Y


def stream(settings: Settings) -> tuple[Rows, sp.csr_matrix]:
    """Return the rows that a cell plays: the first ones, or of a random order."""
    X, Y = load(settings["stream"], settings.get("signed", False))
    order = np.arange(X.shape[0])
    if settings.get("shuffled"):
        order = np.random.default_rng(0).permutation(order)
    order = order[: settings["rows"] or None]
    return X[order], Y[order]


def play(settings: Settings) -> Result:
    """A learner with partial feedback in one game: what came out for each S."""
    X, Y = stream(settings)
    labels = Y.shape[1]
    found = []
    for slots in settings["slots"]:
        most = slots or labels
        ranker = PartialFeedbackRanker(
            **GAMES[settings["game"]],
            **settings["learner"],
            max_labels=most,
            dtype="float32",
        ).add_labels(range(labels))
        played = ranker.play(X, Y)
        found.append(outcome(played.shown, played.losses, played.partial_rank_losses, Y, most))
    return {"labels": labels, "rounds": len(X), "slots": found}


def obr(settings: Settings) -> Result:
    """OBR in all games, for each S."""
    X, Y = stream(settings)
    labels = Y.shape[1]
    ranker = PartialFeedbackRanker(update="full", dtype="float32").add_labels(range(labels))
    chances = (1 + np.clip(ranker.watch(X, Y).scores, -1, 1)) / 2
    games = {}
    for name, game in GAMES.items():
        found = []
        for slots in settings["slots"]:
            most = slots or labels
            shown = lists(chances, most, game)
            losses, partial = list_losses(shown, relevant(Y), slots=most, **game)
            found.append(outcome(shown, losses, partial, Y, most))
        games[name] = found
    likely = float(np.asarray(Y.mean(axis=0)).max())
    return {"labels": labels, "rounds": len(X), "likely": round(likely, 4), "games": games}


def lists(chances: npt.NDArray[Any], most: int, game: dict[str, Any]) -> Lists:
    """Return the best list of each row, by these probabilities."""
    order = np.argsort(-chances, axis=1, kind="stable")[:, :most]
    falling = np.take_along_axis(chances, order, axis=1)
    sizes = [len(best_list(row, **game, max_labels=most)) for row in falling]
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
    most: int,
) -> Result:
    """Return the means over all rounds, and of the loss the means so far."""
    ends = np.unique(np.linspace(1, len(losses), POINTS).astype(int))
    so_far = np.cumsum(losses)[ends - 1] / ends
    sizes = np.array([len(row) for row in shown])
    rows = np.repeat(np.arange(len(shown)), sizes)
    columns = np.concatenate([np.asarray(row, dtype=int) for row in shown])
    common = int(np.asarray(Y.sum(axis=0)).argmax())
    return {
        "loss": round(float(losses.mean()), 5),
        "rank": round(float(partial.mean()) / most, 5),
        "shown": round(float(sizes.mean()), 4),
        "hits": round(float(np.asarray(Y[rows, columns]).sum()) / len(shown), 4),
        "met": len(np.unique(columns)),
        "common": round(float(np.mean(columns == common) * len(columns)) / len(shown), 4),
        "curve": [
            [int(end), round(float(mean), 4)] for end, mean in zip(ends, so_far, strict=True)
        ],
    }
