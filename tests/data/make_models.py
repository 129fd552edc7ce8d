"""Make the model files of the current file format, and files with the expected predictions.

This folder keeps the files of every released format unchanged. Therefore a file is written once,
when its format is final, and existing files are never overwritten.

    python -m tests.data.make_models
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tagalong import (
    BlockProjection,
    LabelRanker,
    M3LClassifier,
    OrdinalRanker,
    PartialFeedbackRanker,
    Predtron,
    SharedLabelRanker,
    Tagger,
)
from tagalong.features import FolderAffinity, TextFeatures
from tagalong.learning import model_files
from tests.changing_answers import changing_items
from tests.online.custom_features import Affinity
from tests.race_streams import changing_columns

FOLDER = Path(__file__).parent
LABELS: list[Any] = ["mail", "Grüße", 7, False, ("folder", 1, ("deep", True))]
N_FEATURES = 6


def examples(seed: int, rows: int) -> list[list[float]]:
    """Return rows of multiples of 1/4, which JSON represents exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (rows, N_FEATURES)) / 4 * (rng.random((rows, N_FEATURES)) < 0.5)
    found: list[list[float]] = X.tolist()
    return found


def taught() -> LabelRanker:
    """One learner with the default parameters and labels of every type that a file may hold."""
    X = np.array(examples(1, 40))
    hidden = np.random.default_rng(2).normal(size=(N_FEATURES, len(LABELS)))
    scores = X @ hidden
    Y = (scores >= np.sort(scores, axis=1)[:, [-2]]).astype(float)
    Y[7, 3] = np.nan
    return LabelRanker(race=None).partial_fit(X, Y, classes=LABELS)


def race() -> LabelRanker:
    """A race in which contestants have left, and started again because the answers changed."""
    X, Y = changing_columns(700)
    return LabelRanker().partial_fit(X, Y, classes=LABELS)


TEXTS = ["Your invoice is due", "Flight to 東京 delayed", "Grüße from mother", "invoice, flight"]


def taught_tagger() -> Tagger:
    """A tagger with a growing vocabulary, counts of words, and a restarted certificate."""
    tagger = Tagger(LabelRanker(race=None), TextFeatures(buckets=None, weighting="tfidf"))
    for i in range(12):
        tagger.learn(TEXTS[i % 4], [["money"], ["travel"], ["family"], ["money", "travel"]][i % 4])
    tagger.learn("rain", ["weather"])
    tagger.forget_label("weather")
    for text in TEXTS[:3]:
        tagger.learn(text, ["money", "post"])
    tagger.notes = {"seen": 16}
    return tagger


def race_tagger() -> Tagger:
    """A tagger with the default learner, in which only contestants for words are left."""
    tagger = Tagger()
    for words, label in changing_items(40):
        tagger.learn(" ".join(words), [label])
    return tagger


def block_projection(**parameters: Any) -> BlockProjection:
    """A block learner: some blocks have groups, and one row per block has the weight 2."""
    learner = BlockProjection(**parameters)
    for seed in range(6):
        X = np.array(examples(10 + seed, 5))
        y = np.where(X[:, 0] > X[:, 1], 1, -1)
        groups = [0, 0, 1, 1, 1] if seed % 2 else None
        learner.learn_block(X, y, groups=groups, weights=[1, 2, 1, 1, 1])
    return learner


def ordinal_ranker() -> OrdinalRanker:
    """An OrdinalRanker whose grades are words, one of them rare."""
    X = np.array(examples(20, 40))
    grades = ["poor", "fair", "good"]
    y = np.array(grades)[np.digitize(X[:, 0] - X[:, 1], [-0.5, 1.5])]
    return OrdinalRanker(grades=grades, update="optimal").fit(X, y)


def shared_label_ranker(features: Any, **parameters: Any) -> SharedLabelRanker:
    """A ranker of folders, one of which is empty."""
    learner = SharedLabelRanker(features, **parameters)
    X = np.array(examples(30, 30))
    Y = [[LABELS[i % 3]] if i % 4 else [LABELS[i % 3], LABELS[3]] for i in range(30)]
    return learner.partial_fit(X, Y, classes=LABELS)


def trained(learner: Any, single: bool = False) -> Any:
    """Train a label ranker with one pass and return it."""
    X = np.array(examples(40, 30))
    Y = ["abc"[i % 3] if single else [LABELS[i % 3], LABELS[3 + i % 2]] for i in range(30)]
    return learner.partial_fit(X, Y, classes=list("abc") if single else LABELS)


SCORES_AND_LABELS = ("decision_function", "predict")

# How to make each kind of model, and the methods whose results are recorded.
ANSWERS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "block_projection": (lambda: block_projection(update="optimal"), ("decision_function",)),
    "block_projection_entropic": (
        lambda: block_projection(geometry="entropic", dtype="float64"),
        ("decision_function",),
    ),
    "ordinal_ranker": (ordinal_ranker, SCORES_AND_LABELS),
    "partial_feedback": (
        lambda: trained(PartialFeedbackRanker(max_labels=2, exploration=0.1)),
        SCORES_AND_LABELS,
    ),
    "partial_feedback_diagonal": (
        lambda: trained(PartialFeedbackRanker(covariance="diagonal", dtype="float32")),
        SCORES_AND_LABELS,
    ),
    "partial_feedback_kernel": (
        lambda: trained(PartialFeedbackRanker(covariance="kernel", loss="logistic")),
        SCORES_AND_LABELS,
    ),
    "predtron": (lambda: trained(Predtron(step=1.0, average=True)), SCORES_AND_LABELS),
    "predtron_l1": (lambda: trained(Predtron("multilabel", norm="l1")), SCORES_AND_LABELS),
    "predtron_multiclass": (lambda: trained(Predtron("multiclass"), True), ("decision_function",)),
    "race": (race, SCORES_AND_LABELS),
    "shared_label_ranker": (
        lambda: shared_label_ranker(FolderAffinity(often=0.3), update="max"),
        SCORES_AND_LABELS,
    ),
    "shared_label_ranker_entropic": (
        lambda: shared_label_ranker(None, geometry="entropic", dtype="float64"),
        SCORES_AND_LABELS,
    ),
    "shared_label_ranker_own": (
        lambda: shared_label_ranker(Affinity(), update="max"),
        SCORES_AND_LABELS,
    ),
}


# The taggers, with the texts for which their suggestions are recorded.
TAGGERS: dict[str, tuple[Callable[[], Tagger], list[str]]] = {
    "tagger": (taught_tagger, [*TEXTS, "nothing known"]),
    "race_tagger": (race_tagger, ["travel1 any3 work2", "home5 home6", "money1", "nothing known"]),
}

FIRST_FORMATS = {"label_ranker": 1, "race": 5, "race_tagger": 5}
"""The first file format of each kind of model; that of the others is 2."""

COUNTS = ("rounds", "mistakes", "loss", "dual", "shown")


def answers_of(model: Any, methods: tuple[str, ...], probes: Any) -> dict[str, Any]:
    """Return the predictions, weights and certificate of a model as JSON values."""
    certificate = model.certificate_
    return {
        "examples": probes,
        "answers": {name: getattr(model, name)(np.array(probes)).tolist() for name in methods},
        "coef": model.coef_.tolist(),
        **{name: getattr(certificate, name) for name in COUNTS if hasattr(certificate, name)},
    }


def write_answers() -> None:
    for kind, (make, methods) in ANSWERS.items():
        path = FOLDER / f"{kind}-format{model_files.FORMAT}.tagalong"
        if path.exists():
            continue
        model = make()
        model.save(path)
        expected = answers_of(model, methods, examples(3, 8))
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


M3L: dict[str, dict[str, Any]] = {
    "m3l": {"prior": "cooccurrence"},
    "m3l_kernel": {"kernel": "rbf", "gamma": 0.5},
}


def write_m3l() -> None:
    for kind, settings in M3L.items():
        path = FOLDER / f"{kind}-format{model_files.FORMAT}.tagalong"
        if path.exists():
            continue
        rng = np.random.default_rng(5)
        sets = [[LABELS[at] for at in np.flatnonzero(rng.random(5) < 0.4)] for _ in range(20)]
        model = M3LClassifier(random_state=0, max_iter=10_000, **settings)
        model.fit(np.array(examples(4, 20)), sets)
        model.save(path)
        probes = examples(3, 8)
        expected = {
            "labels": [repr(label) for label in model.classes_.tolist()],
            "examples": probes,
            "scores": model.decision_function(np.array(probes)).tolist(),
            "predicted": model.predict(np.array(probes)).tolist(),
            "dual_objective": model.dual_objective_,
            "duality_gap": model.duality_gap_,
        }
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def write_taggers() -> None:
    for kind, (make, texts) in TAGGERS.items():
        path = FOLDER / f"{kind}-format{model_files.FORMAT}.tagalong"
        if path.exists():
            continue
        tagger = make()
        tagger.save(path)
        expected = {
            "suggestions": {
                text: [(s.label, s.score, s.probability) for s in tagger.suggest(text, k=None)]
                for text in texts
            },
            "certificate": str(tagger.certificate_),
        }
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def write_label_ranker() -> None:
    path = FOLDER / f"label_ranker-format{model_files.FORMAT}.tagalong"
    if path.exists():
        return
    ranker = taught()
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
    write_label_ranker()
    write_taggers()
    write_answers()
    write_m3l()
