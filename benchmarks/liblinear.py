"""LIBLINEAR as a peer, by itself and as scikit-learn has it: a label's weights and dual value.

It returns no dual solution, but prints the value of the one it has found.
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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.svm import LinearSVC

Array = npt.NDArray[Any]


class Trained(NamedTuple):
    """What a linear peer found for a label."""

    weights: Array
    dual: float  # the value of its dual solution
    seconds: float


Peer = Callable[[Any, Array, float], Trained]


def liblinear() -> Peer | None:
    try:
        native = import_module("liblinear.liblinear")
    except ImportError as error:
        print(f"liblinear-official is not installed ({error}): LinearSVC alone\n")
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


def _timed(train: Callable[[], Any]) -> tuple[Any, float, float]:
    """What LIBLINEAR returns, the dual value that it prints from C, seconds."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as printed, contextlib.redirect_stdout(io.StringIO()):
        os.dup2(printed.fileno(), 1)
        try:
            began = time.process_time()
            found = train()
            seconds = time.process_time() - began
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
        printed.seek(0)
        values = re.findall(rb"Objective value = (\S+)", printed.read())
    if len(values) != 1:
        raise RuntimeError(
            f"LIBLINEAR printed {len(values)} values of its objective instead of one"
        )
    return found, -float(values[0]), seconds
