"""Makes the model file of the present file format, and what it must answer.

Each format that was ever released keeps its files here, as they were then: a file is made once,
when its format is settled, and only read from then on.

    python -m tests.data.make_models
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from tagalong import LabelRanker, Tagger, persist
from tagalong.features import TextFeatures

FOLDER = Path(__file__).parent
LABELS: list[Any] = ["mail", "Grüße", 7, False, ("folder", 1, ("deep", True))]
N_FEATURES = 6


def examples(seed: int, rows: int) -> list[list[float]]:
    """Rows of simple numbers, so that their text is exact."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (rows, N_FEATURES)) / 4 * (rng.random((rows, N_FEATURES)) < 0.5)
    found: list[list[float]] = X.tolist()
    return found


def taught() -> LabelRanker:
    """A ranker with the default parameters and labels of every type that a file may hold."""
    X = np.array(examples(1, 40))
    hidden = np.random.default_rng(2).normal(size=(N_FEATURES, len(LABELS)))
    scores = X @ hidden
    Y = (scores >= np.sort(scores, axis=1)[:, [-2]]).astype(float)
    Y[7, 3] = np.nan
    return LabelRanker().partial_fit(X, Y, classes=LABELS)


TEXTS = ["Your invoice is due", "Flight to 東京 delayed", "Grüße from mother", "invoice, flight"]


def taught_tagger() -> Tagger:
    """A tagger with a growing vocabulary, counts of words, and a restarted certificate."""
    tagger = Tagger(features=TextFeatures(buckets=None, weighting="tfidf"))
    for i in range(12):
        tagger.learn(TEXTS[i % 4], [["money"], ["travel"], ["family"], ["money", "travel"]][i % 4])
    tagger.learn("rain", ["weather"])
    tagger.forget_label("weather")
    for text in TEXTS[:3]:
        tagger.learn(text, ["money", "post"])
    tagger.notes = {"seen": 16}
    return tagger


def write_tagger() -> None:
    tagger = taught_tagger()
    path = FOLDER / f"tagger-format{persist.FORMAT}.tagalong"
    tagger.save(path)
    expected = {
        "suggestions": {
            text: [(s.label, s.score, s.probability) for s in tagger.suggest(text, k=None)]
            for text in [*TEXTS, "nothing known"]
        },
        "certificate": str(tagger.certificate_),
    }
    path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def main() -> None:
    write_tagger()
    ranker = taught()
    path = FOLDER / f"label_ranker-format{persist.FORMAT}.tagalong"
    ranker.save(path)
    probes = examples(3, 8)
    certificate = ranker.certificate_
    expected = {
        "labels": [repr(label) for label in ranker.classes_.tolist()],
        "examples": probes,
        "scores": ranker.decision_function(probes).tolist(),
        "predicted": ranker.predict(probes).tolist(),
        "cutoff": ranker.cutoff_,
        "rounds": certificate.rounds,
        "mistakes": certificate.mistakes,
        "dual": certificate.dual,
    }
    path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
