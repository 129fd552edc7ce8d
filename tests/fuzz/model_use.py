"""Use of a model of any kind: it answers, learns, is edited, and is saved and restored."""

from copy import deepcopy
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagalong import BlockProjection, M3LClassifier, OrdinalRanker, Predtron, Tagger
from tagalong.features import TextFeatures
from tagalong.learning import model_files
from tagalong.online.compact import CompactRanker
from tests.contract.bits import holder_of
from tests.online.custom_features import Affinity

__all__ = ["use"]

NOT_EDITABLE = (
    "can only be changed by learning",
    "has learn() but no relabel",
    "can be renamed, but",
)
"""Parts of the messages of learners whose labels cannot be merged or forgotten."""
TEXTS: list[Any] = [
    "Your invoice is due",
    {"subject": "Flight delayed", "from": "a@example.org"},
    "",
]


def use(model: Any) -> None:
    """Call what users call; OverflowError if an answer is infinite.

    Parameters
    ----------
    model : model
        A model that was loaded from a file.
    """
    repr(model)
    copied(model)
    use_each(model)
    if not has_custom_features(model):
        model_files.pack(model)


def copied(model: Any) -> Any:
    """Return a copy by way of the contents of a file, which cannot hold custom features."""
    if has_custom_features(model):
        return deepcopy(model)
    return model_files.unpack(*model_files.pack(model))


def has_custom_features(model: Any) -> bool:
    """Whether the model is one of those in tests/data whose labels its features cannot save."""
    return isinstance(getattr(model, "features", None), Affinity)


def rows_for(model: Any, rows: int = 4) -> sp.csr_array:
    """Return sparse rows with the columns of a model, however many it has."""
    columns = model.n_features_in_ if hasattr(model, "n_features_in_") else 6
    used = sorted({each for each in (0, 1, 2, columns // 2, columns - 1) if 0 <= each < columns})
    values = np.arange(1.0, 1 + rows * len(used)).reshape(rows, len(used)) % 7 / 4
    indices = np.tile(np.array(used, dtype=np.int32), rows)
    starts = np.arange(0, rows * len(used) + 1, len(used)) if used else np.zeros(rows + 1, int)
    return sp.csr_array((values.ravel(), indices, starts.astype(np.int32)), shape=(rows, columns))


def require_finite(numbers: Any) -> None:
    """Raise OverflowError if a number is infinite, ArithmeticError if one is NaN."""
    found = np.asarray(numbers, dtype=float)
    if np.isinf(found).any():
        raise OverflowError("an answer is infinite")
    if np.isnan(found).any():
        raise ArithmeticError("an answer is NaN")


@singledispatch
def use_each(model: Any) -> None:
    """Use a learner of labels."""
    classes = model.classes_.tolist()
    repr(model.certificate_)
    model.get_params()
    if not hasattr(model, "n_features_in_"):
        example: Any = {"word-1": 1.0, "word-2": 0.5}
        if holder_of(model)._names is None:
            example = ([1, 2], [1.0, 0.5])
        require_finite(model.score_one(example)[0])
        model.learn_one(example, classes[:1])
        require_finite(model.score_one(example)[0])
        return
    if model.n_features not in (None, model.n_features_in_):
        return  # the parameter was changed after the start: matrices are refused
    X = rows_for(model)
    answers(model, X)
    one = model.has_one_label or getattr(model, "one_label", None) is True
    several = 1 if one else 2
    targets = [classes[i % len(classes) :][:several] for i in range(X.shape[0])] if classes else []
    if classes and holder_of(model)._settings.get("memory_limit", 1e9) >= 1e6:
        model.partial_fit(X, targets)
        model.partial_fit(X, targets)
    answers(model, X)
    if len(classes) > 2 and hasattr(model, "forget_labels"):
        edit(model, classes)


def answers(model: Any, X: sp.csr_array) -> None:
    """Ask for scores, rankings, predictions and weights."""
    require_finite(model.decision_function(X))
    model.predict(X)
    for name in ("rank", "predict_proba"):
        if hasattr(model, name):
            getattr(model, name)(X)
    if hasattr(model, "coef_") and widest(model) < 10_000:
        weights: Any = model.coef_
        require_finite(weights if isinstance(weights, np.ndarray) else weights.data)


def widest(model: Any) -> int:
    """Return the number of columns of ``coef_``, which may be dense."""
    features = model.weights_by_feature()["features"]
    return max(model.n_features_in_, int(features.max(initial=-1)) + 1)


def edit(model: Any, classes: list[Any]) -> None:
    """Rename, merge and forget labels, where the learner has such operations."""
    try:
        model.merge_labels(classes[:2], classes[0])
    except ValueError as error:
        if any(reason in str(error) for reason in NOT_EDITABLE):
            return
        raise
    model.forget_labels([classes[2]])
    answers(model, rows_for(model))


@use_each.register
def _(model: CompactRanker) -> None:
    if not hasattr(model, "n_features_in_"):
        require_finite(model.score_one({} if holder_of(model)._names else ([1, 2], [1.0, 0.5]))[0])
        return
    X = rows_for(model)
    require_finite(model.decision_function(X))
    model.predict(X)
    model.rank(X)
    model.predict_proba(X)
    model.weights_by_feature()
    if model.labels.names:
        model.explain_one(([0, 1], [1.0, 0.5]), model.labels.names[0])


def use_compact(model: Tagger) -> None:
    """Use a tagger that does not learn."""
    for found in model.suggest_many(TEXTS, k=3):
        require_finite([each.probability for each in found if each.probability is not None])
    if model.labels:
        model.explain(TEXTS[1], model.labels[0])
    model.coverage()


@use_each.register
def _(model: Tagger) -> None:
    if model.is_compact:
        use_compact(model)
        return
    for _ in range(2):
        model.suggest(TEXTS[0], k=None)
        for found in model.suggest_many(TEXTS, k=3):
            require_finite([each.probability for each in found if each.probability is not None])
        if model.labels:
            model.explain(TEXTS[1], model.labels[0])
        model.learn(TEXTS[1], model.labels[:1])
        if model.learner.labels.grows:
            model.learn("something new", ["quite new"])
    str(model.certificate_)
    if "quite new" in model.labels:
        model.forget_label("quite new")


@use_each.register
def _(model: TextFeatures) -> None:
    for _ in range(2):
        require_finite(model.transform(TEXTS[:1]).data)
        model.partial_fit(TEXTS[:1])


@use_each.register
def _(model: BlockProjection) -> None:
    X = rows_for(model)
    for _ in range(2):
        require_finite(model.decision_function(X))
        model.learn_block(X, [1, -1, 1, -1])
    repr(model.certificate_)


@use_each.register
def _(model: OrdinalRanker) -> None:
    X = rows_for(model)
    for _ in range(2):
        require_finite(model.decision_function(X))
        model.predict(X)
        model.partial_fit(X, model.classes_[:1].repeat(4))


@use_each.register
def _(model: M3LClassifier) -> None:
    # scipy needs memory for every column of a product of sparse matrices.
    if model.kernel != "precomputed" and model.n_features_in_ < 1_000_000:
        answers(model, rows_for(model))
    repr(model.get_params())


@use_each.register
def _(model: Predtron) -> None:
    if model.task == "labels":
        use_each.dispatch(object)(model)
        return
    if not hasattr(model, "n_features_in_"):
        return
    X = rows_for(model)
    for _ in range(2):
        require_finite(model.decision_function(X))
        if model.task == "documents":
            model.partial_fit(X, [0, 1, 1, 2], group=[2, 2])
        else:
            model.predict(X)
            model.partial_fit(X, model.classes_[:1].repeat(4))
