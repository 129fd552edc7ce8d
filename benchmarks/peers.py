"""Peers of the online benchmark: Vowpal Wabbit, scikit-learn and river.

Each peer makes one online pass: it predicts a row, then learns it. Its input is prepared in the
form that suits it best, and the preparation is not timed.

- Vowpal Wabbit reads its own cache file with its own driver. That is faster than calls from Python
  with parsed examples; its second thread, which decodes the file, is allowed. It has enough hash
  bits that no two weights collide. Features are not scaled: on Debian tags, rows of unit length
  improve its ranking loss but worsen the other four measures.
- scikit-learn and river get rows of unit length. Because they are slow, they only get the first
  rows of the stream.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.contest import ChunkedContestant, Contestant, Entry, Step
from benchmarks.measures import Measures, Progressive
from benchmarks.streams import Features, Stream

VW_DEFAULT = "VW default"
VW_MODES = {
    VW_DEFAULT: [],
    "VW hinge": ["--loss_function", "hinge"],
    "VW logistic": ["--loss_function", "logistic"],
    "VW --sgd": ["--sgd"],
}
SKLEARN_BATCH = 256
PACKAGES = {"vw": "vowpalwabbit", "sklearn": "scikit-learn", "river": "river"}


def contestants(
    stream: Stream, only: list[str], quick: bool
) -> tuple[list[Contestant], list[Entry]]:
    """The peers that can be imported; for each of the others, an entry with the reason."""
    makers: dict[str, Callable[[], list[Contestant]]] = {
        "vw": lambda: list(vowpal_wabbit(stream)),
        "sklearn": lambda: list(scikit_learn(stream.head(512 if quick else 2048))),
        "river": lambda: [river(stream.head(32 if quick else 200))],
    }
    found: list[Contestant] = []
    absent = []
    for name in only:
        try:
            found += makers[name]()
        except ImportError as error:
            absent.append(Entry(PACKAGES[name], failure=f"not installed: {error}"))
    return found, absent


@dataclass
class VwFiles:
    """The stream as Vowpal Wabbit's text and cache files, in a folder that this object owns."""

    folder: TemporaryDirectory[str]
    text: Path
    cache: Path

    @classmethod
    def write(cls, stream: Stream) -> VwFiles:
        """Write the text file; the first pass over it writes the cache."""
        folder = TemporaryDirectory(prefix="tagalong-vw-")
        files = cls(folder, Path(folder.name, "stream.vw"), Path(folder.name, "stream.cache"))
        with files.text.open("w") as out:
            out.writelines(_vw_lines(stream))
        return files


@dataclass
class VowpalWabbit:
    """``--multilabel_oaa`` in one mode."""

    name: str
    stream: Stream
    files: VwFiles
    options: list[str]

    @property
    def rows(self) -> int:
        return self.stream.rows

    @property
    def arguments(self) -> list[str]:
        """One weight vector per label; enough bits for all weights without collisions.

        Vowpal Wabbit rounds the number of labels up to a power of two.
        """
        K = len(self.stream.labels)
        bits = max(18, math.ceil(math.log2(self.stream.features)) + math.ceil(math.log2(K)))
        return ["--multilabel_oaa", str(K), "-b", str(bits), "--quiet", *self.options]

    def time(self) -> float:
        """Seconds of one pass over the cache; the constructor of the workspace makes the pass."""
        vw = importlib.import_module("vowpalwabbit")
        source = ["-d", str(self.files.text), "--cache_file", str(self.files.cache)]
        start = time.perf_counter()
        workspace = vw.Workspace(arg_list=[*self.arguments, *source])
        seconds = time.perf_counter() - start
        workspace.finish()
        return seconds

    def measure(self) -> Measures:
        """The measures of a second pass, which requests the scores line by line.

        ``--probabilities`` passes scores through a sigmoid, which keeps their order. Modes with
        squared or hinge loss clip predictions to [-1, 1], so their scores have ties at both ends.
        """
        total = Progressive()
        start = 0
        for scores in self.scores():
            total.add(scores, self.stream.Y[start : start + len(scores)])
            start += len(scores)
        return total.result()

    def scores(self, size: int = 1000) -> Iterator[npt.NDArray[np.float64]]:
        """The progressive scores of all labels, in chunks of rows."""
        vw = importlib.import_module("vowpalwabbit.pyvw")
        workspace = vw.Workspace(arg_list=[*self.arguments, "--probabilities"])
        collected: list[list[float]] = []
        with self.files.text.open() as lines:
            for line in lines:
                example = workspace.example(line)
                workspace.learn(example)
                collected.append(vw.get_prediction(example, vw.PredictionType.SCALARS))
                workspace.finish_example(example)
                if len(collected) == size:
                    yield np.array(collected)
                    collected = []
        if collected:
            yield np.array(collected)
        workspace.finish()


def vowpal_wabbit(stream: Stream) -> Iterator[VowpalWabbit]:
    """One contestant per mode; they share one text file and one cache."""
    importlib.import_module("vowpalwabbit")
    files = VwFiles.write(stream)
    VowpalWabbit("cache", stream, files, []).time()
    for name, options in VW_MODES.items():
        yield VowpalWabbit(name, stream, files, options)


def _vw_lines(stream: Stream) -> Iterator[str]:
    X = sp.csr_matrix(stream.X)
    Y = stream.Y
    for row in range(stream.rows):
        labels = Y.indices[Y.indptr[row] : Y.indptr[row + 1]]
        cells = slice(X.indptr[row], X.indptr[row + 1])
        pairs = zip(X.indices[cells], X.data[cells], strict=True)
        features = " ".join(f"{j}" if value == 1 else f"{j}:{value:.7g}" for j, value in pairs)
        yield f"{','.join(str(label) for label in labels)} | {features}\n"


def scikit_learn(stream: Stream) -> Iterator[ChunkedContestant]:
    """One linear classifier per label, trained in batches: PA-I steps, and SGD with defaults."""
    linear = importlib.import_module("sklearn.linear_model")
    learners = {
        "sklearn PA": partial(
            linear.SGDClassifier, penalty=None, learning_rate="pa1", eta0=1.0, random_state=0
        ),
        "sklearn SGD": partial(linear.SGDClassifier, random_state=0),
    }
    stream = with_unit_rows(stream)
    for name, learner in learners.items():
        yield ChunkedContestant(
            f"{name}, batches of {SKLEARN_BATCH}, first {stream.rows:,}",
            stream,
            SKLEARN_BATCH,
            partial(_scikit_learn_step, learner, len(stream.labels)),
        )


def _scikit_learn_step(learner: Callable[[], Any], K: int) -> Step:
    multioutput = importlib.import_module("sklearn.multioutput")
    model = multioutput.MultiOutputClassifier(learner())
    classes = [np.array([0, 1])] * K

    def step(X: Features, Y: sp.csr_matrix) -> npt.NDArray[np.floating]:
        scores = np.zeros(Y.shape)
        for label, fitted in enumerate(getattr(model, "estimators_", [])):
            scores[:, label] = fitted.decision_function(X)
        model.partial_fit(X, Y.toarray(), classes=classes)
        return scores

    return step


def river(stream: Stream) -> ChunkedContestant:
    """One logistic regression per label, row by row; building the dicts is not timed."""
    linear = importlib.import_module("river.linear_model")
    stream = with_unit_rows(stream)
    X = sp.csr_matrix(stream.X)
    items = []
    for row in range(stream.rows):
        cells = slice(X.indptr[row], X.indptr[row + 1])
        items.append(dict(zip(X.indices[cells].tolist(), X.data[cells].tolist(), strict=True)))
    name = f"river logistic regressions, first {stream.rows:,}"
    return ChunkedContestant(name, stream, stream.rows, partial(_river_step, linear, items))


def _river_step(linear: Any, items: list[dict[int, float]]) -> Step:
    def step(X: Features, Y: sp.csr_matrix) -> npt.NDArray[np.floating]:
        models = [linear.LogisticRegression() for _ in range(Y.shape[1])]
        scores = np.empty(Y.shape)
        for row, item in enumerate(items):
            relevant = set(Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist())
            for label, model in enumerate(models):
                scores[row, label] = model.predict_proba_one(item)[True]
                model.learn_one(item, label in relevant)
        return scores

    return step


def with_unit_rows(stream: Stream) -> Stream:
    """The stream with rows of unit length."""
    return Stream(stream.name, stream.unit_rows, stream.Y, stream.labels)
