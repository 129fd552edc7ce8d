"""Golden runs on numeric features: every learner, geometry and update, and every input form."""

from collections.abc import Callable, Iterator
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
)
from tagalong.features import FolderAffinity
from tagalong.problems import (
    Binary,
    LabelRanking,
    Multiclass,
    Multilabel,
    Ordinal,
    SubsetRanking,
)
from tests.golden import stream
from tests.golden.digest import Digests, Run, digest, file_digest, rounded
from tests.golden.item_runs import commands, taggers
from tests.golden.race_runs import races
from tests.golden.settings import N_FEATURES, make
from tests.online.custom_features import Affinity

UPDATES = ("fixed", "single", "optimal", "simperc", "conproj", "simproj", "simopt", "smooth")
BLOCK_UPDATES = ("simperc", "conproj", "simproj", "simopt", "max", "optimal")
COUNTS = ("rounds", "mistakes", "loss", "dual", "shown", "regret", "curvature", "radius")


# Input forms. Each function trains a new learner of any class.


def by_matrix(learner: Any) -> None:
    learner.partial_fit(stream.X[:40], stream.INDICATOR[:40], classes=stream.LABELS)
    learner.partial_fit(
        stream.SPARSE[40:], stream.INDICATOR[40:], sample_weight=stream.WEIGHTS[40:]
    )


def by_fit(learner: Any) -> None:
    learner.fit(stream.X, stream.NAMED_SETS, sample_weight=stream.WEIGHTS)


def by_growing(learner: Any) -> None:
    learner.partial_fit(stream.SPARSE, stream.NAMED_SETS, "grow")


def by_single_labels(learner: Any) -> None:
    learner.partial_fit(stream.X, stream.SINGLE, classes=stream.LABELS)


def by_examples(learner: Any) -> None:
    for x, labels in zip(stream.PAIRS, stream.NAMED_SETS, strict=True):
        learner.learn_one(x, labels)


def by_names(learner: Any) -> None:
    for x, labels in zip(stream.NAMED, stream.NAMED_SETS, strict=True):
        learner.learn_one(x, labels)


INPUT_FORMS = {
    "fit": by_fit,
    "growing": by_growing,
    "single-labels": by_single_labels,
    "examples": by_examples,
    "names": by_names,
}


def training_run(kind: type, train: Callable[[Any], None], **settings: Any) -> Run:
    """Return a run that trains a learner, and hashes its file and its predictions."""

    def run(_: Path) -> Digests:
        learner = make(kind, **settings)
        train(learner)
        return {"file": file_digest(learner), "answers": digest(predictions_of(learner, train))}

    return run


def predictions_of(learner: Any, train: Callable[[Any], None]) -> dict[str, Any]:
    certificate = learner.certificate_
    found: dict[str, Any] = {"labels": [str(label) for label in learner.classes_]}
    found["counts"] = {name: getattr(certificate, name, None) for name in COUNTS}
    if train is by_names:
        found["ranks"] = [learner.rank_one(x) for x in stream.NAMED]
    elif train is by_examples:
        found["scores"] = [learner.score_one(x) for x in stream.PAIRS]
    else:
        found["scores"] = learner.decision_function(stream.X)
        found["predicted"] = learner.predict(stream.SPARSE)
        found["ranks"] = learner.rank(stream.X, 3)
    return found


# Learners.


def label_rankers() -> Iterator[tuple[str, Run]]:
    for geometry in ("euclidean", "adaptive", "entropic"):
        for update in UPDATES:
            if (geometry, update) == ("entropic", "simopt"):
                continue
            name = f"label-ranker/{geometry}-{update}"
            settings: dict[str, Any] = {"geometry": geometry, "update": update}
            yield f"{name}/matrix", training_run(LabelRanker, by_matrix, **settings)
            yield (
                f"{name}/examples-float64",
                training_run(LabelRanker, by_examples, dtype="float64", **settings),
            )
    for form, train in INPUT_FORMS.items():
        yield (
            f"label-ranker/averaged/{form}",
            training_run(LabelRanker, train, update="smooth", geometry="adaptive", average="auto"),
        )
    yield (
        "label-ranker/interior-point/matrix",
        training_run(LabelRanker, by_matrix, solver="interior-point"),
    )
    yield (
        "label-ranker/plain-rows/matrix",
        training_run(LabelRanker, by_matrix, normalize=False, constant=0.0, average=True),
    )
    yield (
        "label-ranker/relevance/matrix",
        training_run(
            LabelRanker,
            by_matrix,
            update="smooth",
            geometry="adaptive",
            average="auto",
            relevance=True,
        ),
    )
    yield (
        "label-ranker/working-set/matrix",
        training_run(
            LabelRanker,
            by_matrix,
            update="smooth",
            geometry="adaptive",
            average="auto",
            working_set=True,
        ),
    )


def shared_rankers() -> Iterator[tuple[str, Run]]:
    for geometry in ("euclidean", "entropic"):
        for update in BLOCK_UPDATES:
            if (geometry, update) in (("entropic", "simopt"), ("entropic", "optimal")):
                continue
            yield (
                f"shared/{geometry}-{update}/matrix",
                training_run(SharedLabelRanker, by_matrix, geometry=geometry, update=update),
            )
    for form, train in INPUT_FORMS.items():
        yield (
            f"shared/folders/{form}",
            training_run(SharedLabelRanker, train, features=FolderAffinity(0.3, 0.02, 2.0, -1.0)),
        )
    yield (
        "shared/own-features/matrix",
        training_run(SharedLabelRanker, by_matrix, features=Affinity()),
    )


def partial_rankers() -> Iterator[tuple[str, Run]]:
    for covariance in ("full", "diagonal", "kernel"):
        for loss in ("square", "logistic"):
            yield (
                f"partial/{covariance}-{loss}/matrix",
                training_run(PartialFeedbackRanker, by_matrix, covariance=covariance, loss=loss),
            )
    for form, train in INPUT_FORMS.items():
        yield f"partial/float32/{form}", training_run(PartialFeedbackRanker, train, dtype="float32")
    yield "partial/feedback", feedback_run


def feedback_run(_: Path) -> Digests:
    learner = make(PartialFeedbackRanker).add_labels(stream.LABELS)
    lists = []
    for x, labels in zip(stream.PAIRS, stream.NAMED_SETS, strict=True):
        shown = learner.suggest_one(x)
        lists.append((list(shown), shown.probabilities, shown.explores))
        learner.feedback_one(x, shown, [label for label in shown if label in labels])
    return {"file": file_digest(learner), "answers": digest(lists)}


def predtrons() -> Iterator[tuple[str, Run]]:
    ranking = {"step": 0.5, "n_features": N_FEATURES}
    for norm in ("l2", "l1", "group"):
        for update in ("mistake", "loss"):
            for problem in (LabelRanking("1/i"), LabelRanking("-i^2"), Multilabel("hamming")):
                name = f"predtron/{norm}-{update}-{problem!r}"
                yield (
                    f"{name}/matrix",
                    training_run(
                        Predtron, by_matrix, problem=problem, norm=norm, update=update, **ranking
                    ),
                )
    for single in (Multiclass(reject=0.1), Ordinal(stream.LABELS)):
        yield (
            f"predtron/{single!r}/single-labels",
            training_run(Predtron, by_single_labels, problem=single, average=True),
        )
    for kernel in ("linear", "rbf", "poly"):
        yield (
            f"predtron/kernel-{kernel}/matrix",
            training_run(Predtron, by_matrix, kernel=kernel, budget=20, average=True),
        )
    for form, train in INPUT_FORMS.items():
        if form != "single-labels":
            yield f"predtron/averaged/{form}", training_run(Predtron, train, average=True)
    yield "predtron/binary", binary_run
    yield "predtron/queries", queries_run
    yield "predtron/trace", trace_run


def binary_run(_: Path) -> Digests:
    learner = make(Predtron, problem=Binary(costs=(1.0, 0.5)))
    y = [row[0] > row[1] for row in stream.X]
    learner.fit(stream.X, y)
    scores = learner.decision_function(stream.X)
    return {"file": file_digest(learner), "answers": digest([scores, learner.predict(stream.X)])}


def queries_run(_: Path) -> Digests:
    learner = make(Predtron, problem=SubsetRanking(), constant=0.0, passes=1)
    learner.partial_fit(stream.X, stream.RELEVANCES, group=stream.QUERY_SIZES)
    relevant = (stream.RELEVANCES > 1).astype(float)
    before = learner.predict_then_learn(stream.SPARSE, relevant, group=stream.QUERY_SIZES)
    places = learner.predict(stream.X, group=stream.QUERY_SIZES)
    return {"file": file_digest(learner), "answers": digest([before, places])}


def trace_run(_: Path) -> Digests:
    """Hash only the digits of singular values that do not depend on the LAPACK library."""
    learner = make(Predtron, norm="trace", dtype="float64")
    by_matrix(learner)
    scores = learner.decision_function(stream.X)
    return {"answers": digest([rounded(scores), learner.certificate_.mistakes])}


def blocks() -> Iterator[tuple[str, Run]]:
    for geometry in ("euclidean", "entropic"):
        for update in BLOCK_UPDATES:
            if (geometry, update) in (("entropic", "simopt"), ("entropic", "optimal")):
                continue
            for dtype in ("float32", "float64"):
                yield (
                    f"blocks/{geometry}-{update}-{dtype}",
                    block_run(geometry=geometry, update=update, dtype=dtype),
                )
    for update in BLOCK_UPDATES:
        yield f"ordinal/{update}", ordinal_run(update)


def block_run(**settings: Any) -> Run:
    def run(_: Path) -> Digests:
        learner = make(BlockProjection, **settings)
        signs = np.where(stream.X[:, 0] > stream.X[:, 1], 1, -1)
        for begin in range(0, stream.ROWS, 5):
            rows = slice(begin, begin + 5)
            groups = [0, 0, 1, 1, 1] if begin % 10 else None
            learner.learn_block(stream.X[rows], signs[rows], groups, [1, 2, 1, 1, 0.5])
        scores = learner.decision_function(stream.SPARSE)
        counts = {name: getattr(learner.certificate_, name, None) for name in COUNTS}
        return {"file": file_digest(learner), "answers": digest([scores, counts])}

    return run


def ordinal_run(update: str) -> Run:
    def run(_: Path) -> Digests:
        learner = make(OrdinalRanker, update=update)
        learner.fit(stream.X, stream.GRADES)
        found = [learner.latent_score(stream.X), learner.predict(stream.X), learner.thresholds_]
        return {"file": file_digest(learner), "answers": digest(found)}

    return run


def batches() -> Iterator[tuple[str, Run]]:
    prior = np.eye(stream.N_LABELS) + 0.25
    runs: dict[str, dict[str, Any]] = {
        "linear": {},
        "linear-tight": {"tol": 1e-5},
        "linear-prior": {"prior": prior},
        "prior-loss": {"loss": "prior"},
        "costs": {"loss": {"miss": 2.0, "false_alarm": 0.5}},
        "rbf": {"kernel": "rbf"},
        "rbf-prior": {"kernel": "rbf", "prior": prior},
        "poly": {"kernel": "poly"},
    }
    for name, settings in runs.items():
        yield f"m3l/{name}", batch_run(**settings)


def batch_run(**settings: Any) -> Run:
    """With a kernel or a prior, hash only the digits that do not depend on the BLAS library."""
    exact = "prior" not in settings and "kernel" not in settings

    def run(_: Path) -> Digests:
        learner = make(M3LClassifier, **settings).fit(stream.X, stream.NAMED_SETS)
        scores = learner.decision_function(stream.X)
        if not exact:
            return {"answers": digest([rounded(np.round(scores, 4)), learner.n_iter_])}
        answers = digest([scores, learner.dual_objective_, learner.duality_gap_])
        return {"file": file_digest(learner), "answers": answers}

    return run


RUNS: dict[str, Run] = dict(
    run
    for runs in (
        label_rankers(),
        races(),
        shared_rankers(),
        partial_rankers(),
        predtrons(),
        blocks(),
        batches(),
        taggers(),
        commands(),
    )
    for run in runs
)
