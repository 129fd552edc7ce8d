"""BlockProjection beside NumPy, SciPy and clarabel, in blocks per second.

    python -m benchmarks.blocks [--repeat 5] [--blocks 1000]

Every method learns the same stream of CSR matrices with one weight vector that starts at zero.
"NumPy" does the same steps on the arrays of the matrices, "SciPy sparse" as products of sparse
matrices. For the optimal step, clarabel and SciPy's SLSQP solve the dual, a quadratic programme in
one coefficient per row, and NumPy does the rest. Ours learns the stream in one call of
`learn_blocks`; "one by one" calls `learn_block`, which checks its input each time. Methods run
alternately on one thread. Rates are blocks per second of processor time, so that other work on the
machine matters less. The last column is the distance of the final weights from ours, relative to
the norm of ours.
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
# (rows, signs, scores of a block) -> coefficients; comparison -> (seconds, final weights).
Coefficients = Callable[[sp.csr_matrix, FloatArray, FloatArray], FloatArray]
Run = Callable[["Comparison"], tuple[float, FloatArray]]

C = 0.02
# Goals: the speed of ours as a multiple of the peer's.
STEP_GOAL, OPTIMAL_GOAL = 10.0, 20.0


class Block(NamedTuple):
    X: sp.csr_matrix
    y: FloatArray


class Comparison(NamedTuple):
    title: str
    stream: list[Block]
    features: int
    scheme: str
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
    """SimPerc, SimProj, MaxPA and SimOpt in NumPy; no row of the block may be empty."""
    if scheme == "simperc":
        wrong = scores <= 0.0
        return np.asarray(C / max(1, wrong.sum()) * wrong)
    losses = np.maximum(0.0, 1.0 - scores)
    if scheme == "simopt":
        return simopt_coefficients(losses, q)
    single_row = np.minimum(C, losses / q)
    if scheme == "simproj":
        return np.asarray(single_row / max(1, np.count_nonzero(losses)))
    return np.asarray(single_row * (np.arange(len(single_row)) == losses.argmax()))


def numpy_run(choose: Coefficients) -> Run:
    """Learn with the arrays of the CSR matrices: gather weights, scatter updates."""

    def run(comparison: Comparison) -> tuple[float, FloatArray]:
        w = np.zeros(comparison.features)
        start = time.process_time()
        for X, y in comparison.stream:
            lengths = np.diff(X.indptr)
            values = X.data * np.repeat(y, lengths)
            scores = np.add.reduceat(w[X.indices] * values, X.indptr[:-1])
            alphas = choose(X, y, scores)
            np.add.at(w, X.indices, np.repeat(alphas, lengths) * values)
        return time.process_time() - start, w

    return run


def sparse_run(choose: Coefficients) -> Run:
    """Learn with products of sparse matrices."""

    def run(comparison: Comparison) -> tuple[float, FloatArray]:
        w = np.zeros(comparison.features)
        start = time.process_time()
        for X, y in comparison.stream:
            w += X.T @ (choose(X, y, y * (X @ w)) * y)
        return time.process_time() - start, w

    return run


def closed_form(scheme: str) -> Coefficients:
    def choose(X: sp.csr_matrix, y: FloatArray, scores: FloatArray) -> FloatArray:
        return coefficients(scheme, scores, np.add.reduceat(np.square(X.data), X.indptr[:-1]))

    return choose


def simopt_coefficients(losses: FloatArray, q: FloatArray) -> FloatArray:
    if (losses / q).sum() <= C:
        return losses / q
    order = np.argsort(-losses)
    sums = np.cumsum(losses[order] / q[order]) - C
    prices = sums / np.cumsum(1.0 / q[order])
    after = np.append(losses[order][1:], -np.inf)
    return np.asarray(np.maximum(0.0, losses - prices[np.argmax(after <= prices)]) / q)


def optimal_with(solve: Callable[[FloatArray, FloatArray], FloatArray]) -> Coefficients:
    """The optimal step by a solver that gets the inner products of the rows and the losses."""

    def choose(X: sp.csr_matrix, y: FloatArray, scores: FloatArray) -> FloatArray:
        if scores.min() >= 1.0:
            return np.zeros(len(scores))
        return solve((X @ X.T).toarray() * np.outer(y, y), 1.0 - scores)

    return choose


def clarabel_solve(Q: FloatArray, losses: FloatArray) -> FloatArray:
    m = len(losses)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    limits = sp.csc_matrix(np.vstack([-np.eye(m), np.ones((1, m))]))
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(Q)),
        -losses,
        limits,
        np.append(np.zeros(m), C),
        [clarabel.NonnegativeConeT(m + 1)],
        settings,
    )
    return np.asarray(np.maximum(0.0, np.array(solver.solve().x)))


def scipy_solve(Q: FloatArray, losses: FloatArray) -> FloatArray:
    m = len(losses)

    # Variables are scaled by the budget C, which suits the stopping rule of SLSQP.
    def objective(a: FloatArray) -> tuple[float, FloatArray]:
        return float(0.5 * C * a @ Q @ a - losses @ a), C * (Q @ a) - losses

    budget: Any = {
        "type": "ineq",
        "fun": lambda a: 1.0 - a.sum(),
        "jac": lambda _: -np.ones(m),
    }
    found = minimize(
        objective,
        np.zeros(m),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, None)] * m,
        constraints=budget,
        options={"ftol": 1e-10, "maxiter": 500},
    )
    return np.asarray(C * found.x)


def run_blocks(comparison: Comparison) -> tuple[float, FloatArray]:
    X = sp.vstack([block.X for block in comparison.stream], format="csr")
    y = np.concatenate([block.y for block in comparison.stream])
    sizes = [len(block.y) for block in comparison.stream]
    learner = BlockProjection(comparison.scheme, C=C, dtype="float64")
    start = time.process_time()
    learner.learn_blocks(X, y, sizes)
    return time.process_time() - start, np.asarray(learner.coef_)


def run_single_blocks(comparison: Comparison) -> tuple[float, FloatArray]:
    learner = BlockProjection(comparison.scheme, C=C, dtype="float64")
    start = time.process_time()
    for block in comparison.stream:
        learner.learn_block(block.X, block.y)
    return time.process_time() - start, np.asarray(learner.coef_)


def comparisons(count: int) -> list[Comparison]:
    """All comparisons: ``count`` blocks for the closed forms, fewer for the optimal step."""
    found = []
    for nonzeros in (10, 50):
        small = blocks(0, count, 20, 10_000, nonzeros)
        for name in ("simperc", "simproj", "max", "simopt"):
            step = closed_form(name)
            peers = {"NumPy": numpy_run(step), "SciPy sparse": sparse_run(step)}
            title = f"{name}, 20 rows of {nonzeros}"
            found.append(Comparison(title, small, 10_000, name, peers, STEP_GOAL))
    peers = {
        "clarabel": numpy_run(optimal_with(clarabel_solve)),
        "SLSQP": numpy_run(optimal_with(scipy_solve)),
    }
    for rows, share in ((20, 5), (50, 10), (100, 20)):
        stream = blocks(rows, max(1, count // share), rows, 10_000)
        title = f"optimal, {rows} rows of 50"
        found.append(Comparison(title, stream, 10_000, "optimal", peers, OPTIMAL_GOAL))
    return found


def measure(comparison: Comparison, repeat: int) -> list[list[str]]:
    """Rows of the table, one per peer."""
    methods: dict[str, Run] = {
        "ours": run_blocks,
        "one by one": run_single_blocks,
        **comparison.peers,
    }
    times = {name: Times() for name in methods}
    weights: dict[str, FloatArray] = {}
    for _ in range(repeat):
        for name, run in methods.items():
            seconds, weights[name] = run(comparison)
            times[name].seconds.append(seconds)
    count = len(comparison.stream)
    norm = float(np.linalg.norm(weights["ours"]))
    rows = []
    for peer in comparison.peers:
        ratio = times[peer].over(times["ours"])
        difference = float(np.linalg.norm(weights[peer] - weights["ours"])) / norm
        rows.append([
            comparison.title,
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
    parser.add_argument("--blocks", type=int, default=1_000, help="blocks for closed-form steps")
    options = parser.parse_args()
    with threadpool_limits(1):
        found = comparisons(options.blocks)
        rows = [row for one in found for row in measure(one, options.repeat)]
    headers = [
        "step", "blocks/s, best", "median", "one by one", "peer", "peer's blocks/s",
        "ours / peer", "goal", "", "difference of weights",
    ]  # fmt: skip
    print(table(headers, rows))


if __name__ == "__main__":
    main()
