"""LIBLINEAR as a peer, through its own package and through scikit-learn's LinearSVC.

A peer trains one label and returns weights and the dual value. LIBLINEAR returns no dual solution,
but it prints the dual value, which is captured here.
"""

import contextlib
import ctypes
import io
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.svm import LinearSVC

Array = npt.NDArray[Any]
ModelT = TypeVar("ModelT")


class Trained(NamedTuple):
    """The model of a linear peer for one label."""

    weights: Array
    dual: float  # dual objective value
    seconds: float


Peer = Callable[[Any, Array, float], Trained]


def liblinear() -> Peer | None:
    try:
        native = import_module("liblinear.liblinear")
    except ImportError as error:
        print(f"liblinear-official is not installed ({error}): LinearSVC is the only peer\n")
        return None

    def train(X: Any, y: Array, eps: float) -> Trained:
        problem = native.problem(y, sp.csr_matrix(X))
        settings = native.parameter(f"-s 3 -c 2 -e {eps} -B -1")
        problem.set_bias(settings.bias)
        model, dual, seconds = _timed(lambda: native.liblinear.train(problem, settings))
        found = np.ctypeslib.as_array(model.contents.w, (model.contents.nr_feature,)).copy()
        out = np.zeros(X.shape[1])
        out[: len(found)] = found if model.contents.label[0] == 1 else -found
        return Trained(out, dual, seconds)

    return train


def linear_svc(X: Any, y: Array, eps: float) -> Trained:
    peer = LinearSVC(
        loss="hinge", C=2, tol=eps, fit_intercept=False, max_iter=10**6, random_state=0, verbose=1
    )
    _, dual, seconds = _timed(lambda: peer.fit(X, y))
    return Trained(np.asarray(peer.coef_[0]), dual, seconds)


def _timed(train: Callable[[], ModelT]) -> tuple[ModelT, float, float]:
    """The result of LIBLINEAR, the dual value that its C code prints, and the seconds."""
    sys.stdout.flush()
    stdout_copy = os.dup(1)
    with tempfile.TemporaryFile() as printed, contextlib.redirect_stdout(io.StringIO()):
        os.dup2(printed.fileno(), 1)
        try:
            start = time.process_time()
            model = train()
            seconds = time.process_time() - start
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(stdout_copy, 1)
            os.close(stdout_copy)
        printed.seek(0)
        values = re.findall(rb"Objective value = (\S+)", printed.read())
    if len(values) != 1:
        raise RuntimeError(
            f"LIBLINEAR printed {len(values)} objective values; exactly one was expected"
        )
    return model, -float(values[0]), seconds
