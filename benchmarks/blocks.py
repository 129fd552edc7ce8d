"""Blocks of rows a second, beside NumPy, clarabel and SciPy, in one run.

    python -m benchmarks.blocks [--repeat 5] [--blocks 1000]

Every way learns the same stream of CSR matrices with one weight vector from the start. NumPy does
the same steps on the arrays of the matrices, SciPy's sparse matrices do them as products; clarabel
and SciPy's SLSQP solve the dual of the best step, a quadratic programme in the rows' coefficients,
around the NumPy code. Ours learns the stream in one call of `learn_blocks`; "one by one" calls
`learn_block`, which checks its input each time. Ways take turns on one thread; the best of each
counts, in blocks a second of processor time, so that what else a machine does hits none of them
harder. The last column says how far the final weights lie from ours, in relation to their length.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from benchmarks.markdown import table
from benchmarks.turns import Times
from tagalong import BlockProjection

FloatArray = NDArray[np.float64]
# From a block and its scores to its coefficients; from a comparison to seconds and weights.
Coefficients = Callable[[Any, FloatArray, FloatArray], FloatArray]
Run = Callable[["Comparison"], tuple[float, FloatArray]]

C = 0.02
# What each comparison should reach.
STEP_GOAL, OPTIMAL_GOAL = 10.0, 20.0


class Block(NamedTuple):
    X: sp.csr_matrix
    y: FloatArray


class Comparison(NamedTuple):
    what: str
    stream: list[Block]
    features: int
    ours: str
    peers: dict[str, Run]
    goal: float


def blocks(seed: int, count: int, rows: int, features: int, nonzeros: int = 50) -> list[Block]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=features)
    stream = []
    for _ in range(count):
        columns = np.array([rng.choice(features, nonzeros, replace=False) for _ in range(rows)])
        columns.sort(axis=1)
        values = rng.normal(size=columns.shape)
        starts = np.arange(0, columns.size + 1, nonzeros)
        X = sp.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(rows, features))
        stream.append(Block(X, np.where(X @ truth > 0, 1.0, -1.0)))
    return stream


def coefficients(scheme: str, scores: FloatArray, q: FloatArray) -> FloatArray:
    """SimPerc, SimProj, MaxPA and SimOpt in NumPy, for a block in which no row is empty."""
    if scheme == "simperc":
        wrong = scores <= 0.0
        return C / max(1, wrong.sum()) * wrong
    losses = np.maximum(0.0, 1.0 - scores)
    if scheme == "simopt":
        return surrogate(losses, q)
    own = np.minimum(C, losses / q)
    if scheme == "simproj":
        return own / max(1, np.count_nonzero(losses))
    return own * (np.arange(len(own)) == losses.argmax())


def array_run(choose: Coefficients) -> Run:
    """Learn with the arrays of the matrices, by gathering and scattering."""

    def run(comparison: Comparison) -> tuple[float, FloatArray]:
        w = np.zeros(comparison.features)
        start = time.process_time()
        for X, y in comparison.stream:
            lengths = np.diff(X.indptr)
            values = X.data * np.repeat(y, lengths)
            scores = np.add.reduceat(w[X.indices] * values, X.indptr[:-1])
            masses = choose(X, y, scores)
            np.add.at(w, X.indices, np.repeat(masses, lengths) * values)
        return time.process_time() - start, w

    return run


def product_run(choose: Coefficients) -> Run:
    """Learn with products of sparse matrices."""

    def run(comparison: Comparison) -> tuple[float, FloatArray]:
        w = np.zeros(comparison.features)
        start = time.process_time()
        for X, y in comparison.stream:
            w += X.T @ (choose(X, y, y * (X @ w)) * y)
        return time.process_time() - start, w

    return run


def shared(scheme: str) -> Coefficients:
    def choose(X: sp.csr_matrix, y: FloatArray, scores: FloatArray) -> FloatArray:
        return coefficients(scheme, scores, np.add.reduceat(np.square(X.data), X.indptr[:-1]))

    return choose


def surrogate(losses: FloatArray, q: FloatArray) -> FloatArray:
    if (losses / q).sum() <= C:
        return losses / q
    order = np.argsort(-losses)
    sums = np.cumsum(losses[order] / q[order]) - C
    prices = sums / np.cumsum(1.0 / q[order])
    after = np.append(losses[order][1:], -np.inf)
    return np.maximum(0.0, losses - prices[np.argmax(after <= prices)]) / q


def best(solve: Callable[[FloatArray, FloatArray], FloatArray]) -> Coefficients:
    """The best step, left to a solver: it sees the products of the rows and the losses."""

    def choose(X: sp.csr_matrix, y: FloatArray, scores: FloatArray) -> FloatArray:
        if scores.min() >= 1.0:
            return np.zeros(len(scores))
        return solve((X @ X.T).toarray() * np.outer(y, y), 1.0 - scores)

    return choose


def clarabel_solve(Q: FloatArray, losses: FloatArray) -> FloatArray:
    m = len(losses)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    limits = sp.vstack([-sp.eye(m), np.ones((1, m))], format="csc")
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(Q)),
        -losses,
        limits,
        np.append(np.zeros(m), C),
        [clarabel.NonnegativeConeT(m + 1)],
        settings,
    )
    return np.maximum(0.0, np.array(solver.solve().x))


def scipy_solve(Q: FloatArray, losses: FloatArray) -> FloatArray:
    m = len(losses)
    # In units of the budget, which suits its stopping rule.
    found = minimize(
        lambda a: (0.5 * C * a @ Q @ a - losses @ a, C * (Q @ a) - losses),
        np.zeros(m),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, None)] * m,
        constraints={"type": "ineq", "fun": lambda a: 1.0 - a.sum(), "jac": lambda _: -np.ones(m)},
        options={"ftol": 1e-10, "maxiter": 500},
    )
    return np.asarray(C * found.x)


def our_run(comparison: Comparison) -> tuple[float, FloatArray]:
    X = sp.vstack([block.X for block in comparison.stream], format="csr")
    y = np.concatenate([block.y for block in comparison.stream])
    sizes = [len(block.y) for block in comparison.stream]
    learner = BlockProjection(comparison.ours, C=C, dtype="float64")
    start = time.process_time()
    learner.learn_blocks(X, y, sizes)
    return time.process_time() - start, np.asarray(learner.coef_)


def single_run(comparison: Comparison) -> tuple[float, FloatArray]:
    learner = BlockProjection(comparison.ours, C=C, dtype="float64")
    start = time.process_time()
    for block in comparison.stream:
        learner.learn_block(block.X, block.y)
    return time.process_time() - start, np.asarray(learner.coef_)


def comparisons(count: int) -> list[Comparison]:
    """All of them, with so many blocks where a step is quick and fewer where it is not."""
    found = []
    for nonzeros in (10, 50):
        small = blocks(0, count, 20, 10_000, nonzeros)
        for name in ("simperc", "simproj", "max", "simopt"):
            step = shared(name)
            peers = {"NumPy": array_run(step), "SciPy sparse": product_run(step)}
            what = f"{name}, 20 rows of {nonzeros}"
            found.append(Comparison(what, small, 10_000, name, peers, STEP_GOAL))
    peers = {"clarabel": array_run(best(clarabel_solve)), "SLSQP": array_run(best(scipy_solve))}
    for rows, share in ((20, 5), (50, 10), (100, 20)):
        stream = blocks(rows, max(1, count // share), rows, 10_000)
        what = f"optimal, {rows} rows of 50"
        found.append(Comparison(what, stream, 10_000, "optimal", peers, OPTIMAL_GOAL))
    return found


def measure(comparison: Comparison, repeat: int) -> list[list[str]]:
    """Rows of the table, one a peer."""
    ways: dict[str, Run] = {"ours": our_run, "one by one": single_run, **comparison.peers}
    times = {name: Times() for name in ways}
    weights: dict[str, FloatArray] = {}
    for _ in range(repeat):
        for name, run in ways.items():
            taken, weights[name] = run(comparison)
            times[name].seconds.append(taken)
    count = len(comparison.stream)
    length = float(np.linalg.norm(weights["ours"]))
    rows = []
    for peer in comparison.peers:
        ratio = times[peer].over(times["ours"])
        difference = float(np.linalg.norm(weights[peer] - weights["ours"])) / length
        rows.append([
            comparison.what,
            f"{count / times['ours'].best:,.0f}",
            f"{count / times['ours'].median:,.0f}",
            f"{count / times['one by one'].median:,.0f}",
            peer,
            f"{count / times[peer].median:,.0f}",
            str(ratio),
            f"{comparison.goal:.0f}",
            "reached" if ratio.median >= comparison.goal else "not reached",
            f"{difference:.0e}",
        ])  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--blocks", type=int, default=1_000, help="where a step is quick")
    options = parser.parse_args()
    with threadpool_limits(1):
        found = comparisons(options.blocks)
        rows = [row for one in found for row in measure(one, options.repeat)]
    heads = [
        "step", "blocks/s, best", "median", "one by one", "peer", "its blocks/s", "times", "goal",
        "", "differs by",
    ]  # fmt: skip
    print(table(heads, rows))


if __name__ == "__main__":
    main()
