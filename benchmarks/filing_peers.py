"""The peers of the filing benchmark: naive Bayes, calibrated linear models, and fastText.

Peers are fitted again at every number of items learnt. They are sure of a suggestion if the
probability that they give it reaches the target. Labels with fewer than three items can't be
calibrated; the calibrated models leave them out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import MultiLabelBinarizer

from benchmarks.filing_streams import FilingStream

FOLDS = 3
SMOOTHING = 0.1
"""Of naive Bayes; 1 and .01 measured worse on newsgroups."""

WEIGHTED = ("rcv1",)
"""Streams whose words are weighted by idf already."""

MOST_LABELS_TO_CALIBRATE = 200
"""With more labels per item and more of them, fitting takes too long."""


@dataclass(frozen=True)
class Answers:
    """First suggestions for some items.

    Parameters
    ----------
    right : whether each was right.
    probability : the chance that the method gives it.
    assured : the highest target at which it is sure.
    measures : what hindsight may put a threshold on.
    """

    right: npt.NDArray[np.bool_]
    probability: npt.NDArray[np.float64]
    assured: npt.NDArray[np.float64]
    measures: list[npt.NDArray[np.float64]]


Peer = Callable[[FilingStream, int, int], Answers]


def peers(stream: FilingStream) -> dict[str, Peer]:
    """The peers of a stream by name; each learns the first items and judges those up to a last."""
    found: dict[str, Peer] = {"naive Bayes": naive_bayes}
    if (
        stream.one_label
        or len({x for one in stream.labels for x in one}) < MOST_LABELS_TO_CALIBRATE
    ):
        found["SGD, calibrated"] = calibrated_sgd
    return found | {"fastText": fasttext}


def naive_bayes(stream: FilingStream, learnt: int, end: int) -> Answers:
    """Multinomial naive Bayes on the words seen so far; one label against the rest if several."""
    X = _counts(stream)
    seen = np.flatnonzero(X[:learnt].getnnz(axis=0))
    train, test = X[:learnt, seen], X[learnt:end, seen]
    if stream.one_label:
        model = MultinomialNB(alpha=SMOOTHING)
        model.fit(train, [labels[0] for labels in stream.labels[:learnt]])
        return _answers(stream, learnt, model.classes_, model.predict_proba(test))
    names, Y = _indicator(stream, learnt)
    models = [MultinomialNB(alpha=SMOOTHING).fit(train, y) for y in Y.T]
    chances = [model.predict_proba(test)[:, 1] for model in models]
    return _answers(stream, learnt, names, np.column_stack(chances))


def calibrated_sgd(stream: FilingStream, learnt: int, end: int) -> Answers:
    """A linear SVM on tf-idf, trained by SGD and calibrated by cross-validation.

    Exclusive labels are calibrated by a temperature, which measured best of the three methods.
    """
    tfidf = TfidfTransformer(use_idf=stream.name not in WEIGHTED)
    X = _counts(stream)
    train, test = tfidf.fit_transform(X[:learnt]), tfidf.transform(X[learnt:end])

    def calibrated() -> CalibratedClassifierCV:
        method = "temperature" if stream.one_label else "sigmoid"
        return CalibratedClassifierCV(SGDClassifier(random_state=0), cv=FOLDS, method=method)

    names, Y = _indicator(stream, learnt, least=FOLDS)
    if not len(names):
        raise ValueError(f"no label has {FOLDS} items")
    if stream.one_label:
        rows = Y.any(axis=1)
        if len(names) < 2:
            raise ValueError(f"one label only has {FOLDS} items")
        model = calibrated().fit(train[rows], names[Y[rows].argmax(axis=1)])
        return _answers(stream, learnt, model.classes_, model.predict_proba(test))
    chances = [calibrated().fit(train, y).predict_proba(test)[:, 1] for y in Y.T]
    return _answers(stream, learnt, names, np.column_stack(chances))


def fasttext(stream: FilingStream, learnt: int, end: int) -> Answers:
    """FastText with a high rate, and many epochs while there are few items.

    Words are passed as numbers.
    """
    from fasttext import train_supervised

    def words(row: int) -> str:
        return " ".join(map(str, stream.row(row)[0].tolist()))

    number = {label: i for i, label in enumerate(sorted({x for y in stream.labels for x in y}))}
    names = np.array(list(number))
    with TemporaryDirectory(prefix="tagalong-fasttext-") as folder:
        path = Path(folder, "train.txt")
        with path.open("w", encoding="utf-8") as file:
            for row in range(learnt):
                marks = " ".join(f"__label__{number[x]}" for x in stream.labels[row])
                file.write(f"{marks} {words(row)}\n")
        loss = "softmax" if stream.one_label else "ova"
        epochs = 100 if learnt <= 2000 else 25
        model = train_supervised(
            str(path), epoch=epochs, lr=1.0, loss=loss, thread=1, seed=0, verbose=0
        )
    found, chances = model.predict([words(row) for row in range(learnt, end)], k=1)
    best = [names[int(one[0].removeprefix("__label__"))] if one else "" for one in found]
    probability = np.array([float(one[0]) if len(one) else 0.0 for one in chances])
    right = np.array(
        [x in labels for x, labels in zip(best, stream.labels[learnt:end], strict=True)]
    )
    probability = np.minimum(probability, 1.0)
    return Answers(right, probability, probability, [probability])


def _counts(stream: FilingStream) -> sp.csr_matrix:
    return sp.csr_matrix(abs(stream.csr()))


def _indicator(
    stream: FilingStream, learnt: int, least: int = 1
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The labels of the first items, as columns; only those with some items, but not all."""
    binarizer = MultiLabelBinarizer()
    Y = binarizer.fit_transform(stream.labels[:learnt])
    kept = (Y.sum(axis=0) >= least) & (learnt - Y.sum(axis=0) >= least)
    return np.array(binarizer.classes_)[kept], Y[:, kept]


def _answers(
    stream: FilingStream, learnt: int, names: npt.NDArray[Any], chances: npt.NDArray[Any]
) -> Answers:
    best = chances.argmax(axis=1)
    probability = chances[np.arange(len(best)), best].astype(np.float64)
    truth = stream.labels[learnt : learnt + len(best)]
    right = np.array([names[i] in labels for i, labels in zip(best, truth, strict=True)])
    return Answers(right, probability, probability, [probability])
