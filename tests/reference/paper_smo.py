"""P4's algorithms as the paper has them, in NumPy: Algorithm 1 and the linear algorithm.

Each correction can be switched off, to show what the printed version does.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .geometries import FloatArray
from .m3l import Dual


@dataclass
class Run:
    """The result of a run: dual variables, iterations, largest projected derivative it believes."""

    b: FloatArray
    iterations: int = 0
    labels: list[int] = field(default_factory=list)
    believed: float = np.inf


def projected(h: FloatArray, b: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return |projected derivative|."""
    up, down = np.where(b < high, h, 0.0), np.where(b > low, -h, 0.0)
    return np.maximum(np.maximum(up, down), 0.0)


def algorithm1(
    dual: Dual,
    tol: float,
    max_iterations: int,
    propagates_inside: bool = False,
    absolute: bool = True,
) -> Run:
    """Run Algorithm 1.

    ``propagates_inside`` updates the other labels inside the inner loop, as printed. Without
    ``absolute`` partners need K_pq < √(K_pp K_qq), as printed.
    """
    n, L = dual.target.shape
    run = Run(np.zeros((n, L)))
    g, b, R = dual.target.copy(), run.b, dual.R
    while run.iterations < max_iterations:
        violations = projected(g, b, dual.low, dual.high)
        run.believed = float(violations.max())
        if run.believed < tol:
            break
        label = int(violations.max(axis=0).argmax())
        run.labels.append(label)
        u = np.zeros(n)
        for _ in range(L):
            v = projected(g[:, label], b[:, label], dual.low[:, label], dual.high[:, label])
            p = int(v.argmax())
            if v[p] < tol:
                break
            run.iterations += 1
            moved = _pair_step(dual, label, p, g[:, label], b[:, label], v, absolute)
            g[:, label] -= 4 * R[label, label] * moved
            u += moved
            if propagates_inside:
                _propagate(g, R, label, u)
        if not propagates_inside:
            _propagate(g, R, label, u)
    return run


def _propagate(g: FloatArray, R: FloatArray, label: int, u: FloatArray) -> None:
    for k in range(len(R)):
        if k != label:
            g[:, k] -= 4 * R[k, label] * u


def _pair_step(
    dual: Dual, label: int, p: int, g: FloatArray, b: FloatArray, v: FloatArray, absolute: bool
) -> FloatArray:
    """Move p and its best partner; return the change of K b."""
    K, r = dual.K, 4 * dual.R[label, label]
    kp, diagonal = K[p], np.diag(K)
    size = np.abs(kp) if absolute else kp
    able = (size < np.sqrt(diagonal[p] * diagonal) * (1 - 1e-6)) & (v > 0)
    low, high = dual.low[:, label] - b, dual.high[:, label] - b
    if not able.any():
        step = g[p] / (r * K[p, p]) if K[p, p] > 0 else np.inf * g[p]
        d = float(np.clip(step, low[p], high[p]))
        b[p] += d
        return d * kp
    with np.errstate(all="ignore"):
        gain = (g[p] ** 2 * diagonal + g**2 * K[p, p] - 2 * g[p] * g * kp) / (
            K[p, p] * diagonal - kp**2
        )
        q = int(np.where(able, gain, -np.inf).argmax())
        Q = r * K[np.ix_([p, q], [p, q])]
        d, e = solve_2d(Q, g[[p, q]], low[[p, q]], high[[p, q]])
    b[p] += d
    b[q] += e
    return d * kp + e * K[q]


def solve_2d(Q: FloatArray, g: FloatArray, m: FloatArray, M: FloatArray) -> tuple[float, float]:
    """The paper's Algorithm 2."""
    determinant = Q[0, 0] * Q[1, 1] - Q[0, 1] ** 2
    best = np.array([Q[1, 1] * g[0] - Q[0, 1] * g[1], Q[0, 0] * g[1] - Q[0, 1] * g[0]])
    best = best / determinant
    clipped = np.minimum(M, np.maximum(m, best))
    inside = (m <= best) & (best <= M)
    first = np.clip((g[0] - Q[0, 1] * clipped[1]) / Q[0, 0], m[0], M[0])
    second = np.clip((g[1] - Q[0, 1] * clipped[0]) / Q[1, 1], m[1], M[1])
    if inside.all():
        return float(best[0]), float(best[1])
    if inside[0]:
        return float(first), float(clipped[1])
    if inside[1]:
        return float(clipped[0]), float(second)
    ends = np.array([[clipped[0], second], [first, clipped[1]]])
    values = [x @ g - x @ Q @ x / 2 for x in ends]
    d, e = ends[0] if values[0] > values[1] else ends[1]
    return float(d), float(e)


def linear(X: FloatArray, dual: Dual, passes: int, seed: int, only_own: bool = False) -> Run:
    """Run steps on one variable at a time (Eqs. 37 to 40), in random order.

    ``only_own`` updates the weights of the variable's own label alone, as Eq. 40 is printed.
    """
    rng = np.random.default_rng(seed)
    n, L = dual.target.shape
    run = Run(np.zeros((n, L)))
    z, norms = np.zeros((L, X.shape[1])), np.einsum("ij,ij->i", X, X)
    for _ in range(passes):
        run.believed = 0.0
        for place in rng.permutation(n * L):
            i, label = divmod(int(place), L)
            h = dual.target[i, label] - 2 * z[label] @ X[i]
            bounds = dual.low[i, label], dual.high[i, label]
            here = run.b[i, label]
            up, down = (h if here < bounds[1] else 0.0), (-h if here > bounds[0] else 0.0)
            run.believed = max(run.believed, up, down)
            curvature = 4 * dual.R[label, label] * norms[i]
            new = np.clip(here + h / curvature if curvature > 0 else np.inf * h, *bounds)
            run.b[i, label] = new
            run.iterations += 1
            for k in range(L):
                if k == label or not only_own:
                    z[k] += 2 * dual.R[k, label] * (new - here) * X[i]
    return run


class Order:
    """The random permutations of the native solver: SplitMix64 and swaps from the end."""

    def __init__(self, seed: int):
        self.state = seed * 0xD1342543DE82EF95 % 2**64

    def shuffle(self, values: list[Any]) -> None:
        for i in range(len(values), 1, -1):
            j = self._below(i)
            values[i - 1], values[j] = values[j], values[i - 1]

    def _below(self, count: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return int(((z ^ z >> 31) >> 32) * count >> 32)


def linear_with_active_sets(
    X: FloatArray, dual: Dual, tol: float, max_visits: int, seed: int, delays: bool = True
) -> Run:
    """Run the linear algorithm with delayed updates (Eqs. 41-43) and active sets (Eqs. 44, 45).

    An iteration is the visit of a variable. Weights are recomputed from b in every turn: in a turn
    the own label sees the steps at once, the others see them after it. ``delays=False`` leaves out
    the delayed updates: every turn is one visit.
    """
    order = Order(seed)
    n, L = dual.target.shape
    run, R = Run(np.zeros((n, L))), dual.R
    b, norms = run.b, np.einsum("ij,ij->i", X, X)
    free = [[i for i in range(n) if dual.low[i, k] < dual.high[i, k]] for k in range(L)]
    active = [list(rows) for rows in free]
    limits = [(-np.inf, np.inf)] * L
    first, size, all_active = 0.0, 1, True
    while run.iterations < max_visits:
        for rows in active:
            order.shuffle(rows)
        turns = [
            (k, rows[at : at + size])
            for k, rows in enumerate(active)
            for at in range(0, len(rows), size)
        ]
        order.shuffle(turns)
        seen = np.zeros((L, 2))  # the least and the largest projected derivative of each label
        for k, rows in turns:
            z = 2 * R[k] @ (b.T @ X)
            for i in rows:
                run.iterations += 1
                h = dual.target[i, k] - 2 * z @ X[i]
                here, low, high = b[i, k], dual.low[i, k], dual.high[i, k]
                if (here <= low and h < limits[k][0]) or (here >= high and h > limits[k][1]):
                    active[k].remove(i)
                    continue
                h = max(h, 0.0) if here <= low else h
                h = min(h, 0.0) if here >= high else h
                seen[k] = min(seen[k, 0], h), max(seen[k, 1], h)
                if h == 0:
                    continue
                curvature = 4 * R[k, k] * norms[i]
                step = h / curvature if curvature > 0 else np.inf * h
                b[i, k] = np.clip(here + step, low, high)
                z = z + 2 * R[k, k] * (b[i, k] - here) * X[i]
        violation = float(np.abs(seen).max())
        first = max(first, violation)
        size = L if delays and violation < 0.1 * first else 1
        if violation < tol and all_active and dual.violation(b) < tol:
            break
        all_active = violation < tol
        if all_active:
            active, limits = [list(rows) for rows in free], [(-np.inf, np.inf)] * L
        else:
            ends = [(np.abs(R[:, k]) * seen.T).T for k in range(L)]
            least = [float(end[:, 0].min()) for end in ends]
            most = [float(end[:, 1].max()) for end in ends]
            limits = [
                (low if low < 0 else -np.inf, high if high > 0 else np.inf)
                for low, high in zip(least, most, strict=True)
            ]
        run.believed = violation
    return run
