"""Time and memory of linear M3L on up to a million rows: ``python -m benchmarks.m3l_scale``.

Each row has 46 different words, drawn by Zipf's law. A label depends on eight words, with noise.
Each size is trained once, in its own process. Goal for the memory that training adds: four bytes
per dual variable and twice the weights.
"""

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.liblinear import Array
from benchmarks.m3l import Dataset, f1, fit, relative_gap
from benchmarks.markdown import table

ROWS = (250_000, 1_000_000)
HEADERS = (
    "rows",
    "labels",
    "processor s",
    "relative gap",
    "F1, 20,000 rows",
    "MB before training",
    "MB that training adds (peak)",
    "goal, MB: dual variables and twice the weights",
)


def scale(sizes: Sequence[int]) -> None:
    """Train each size once, in its own process, so that each has its own memory peak."""
    found = []
    for rows in sizes:
        program = f"from benchmarks.m3l_scale import train; print(*train({rows}), sep='|')"
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found.append(done.stdout.strip().split("|"))
    print(table(HEADERS, found) + "\n", flush=True)


def process_memory(which: str) -> float:
    """Megabytes of this process: ``VmRSS`` is current, ``VmHWM`` the peak since its reset."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


def reset_peak_memory() -> None:
    """Reset the peak of the process's memory (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def distinct_words(rng: np.random.Generator, rows: int, columns: int, count: int) -> Array:
    """``count`` different words per row, by Zipf's law; repeated words are drawn again."""

    def draw(size: Any) -> Array:
        # The probability of word k is proportional to 1 / (k + 20), so no word is in every row.
        words = 20 * ((columns / 20 + 1) ** rng.random(size, dtype=np.float32) - 1)
        return np.asarray(np.minimum(words, columns - 1), dtype=np.int32)

    words = np.sort(draw((rows, count)), axis=1)
    left = np.arange(rows)
    while len(left):
        part = words[left]
        again = np.zeros(part.shape, bool)
        again[:, 1:] = part[:, 1:] == part[:, :-1]
        left, part, again = (each[again.any(axis=1)] for each in (left, part, again))
        part[again] = draw(int(again.sum()))
        words[left] = np.sort(part, axis=1)
    return words


def train(rows: int, columns: int = 100_000, labels: int = 100, nonzeros: int = 46) -> list[str]:
    """Train one model on generated rows; return a row of the table."""
    rng = np.random.default_rng(0)
    indices = distinct_words(rng, rows, columns, nonzeros).ravel()
    starts = np.arange(0, rows * nonzeros + 1, nonzeros, dtype=np.int32)
    values = np.full(len(indices), 1 / np.sqrt(nonzeros), np.float32)
    X = sp.csr_matrix((values, indices, starts), (rows, columns))
    columns_of_Y = []
    for _ in range(labels):
        words = rng.choice(2000, 8, replace=False)
        scores = np.asarray(X[:, words].sum(axis=1)).ravel() + 0.05 * rng.normal(size=rows)
        top = np.argpartition(-scores, rows // 50)[: rows // 50]
        columns_of_Y.append(
            sp.csc_matrix((np.ones(len(top), np.int8), (top, np.zeros(len(top), int))), (rows, 1))
        )
    Y = sp.csr_matrix(sp.hstack(columns_of_Y))
    del indices, starts, values, columns_of_Y
    gc.collect()
    reset_peak_memory()
    before, start = process_memory("VmRSS"), time.process_time()
    model = fit(Dataset(X, Y), tol=0.1, verbose=1)
    seconds, peak = time.process_time() - start, process_memory("VmHWM")
    few = slice(min(rows, 20_000))
    quality = f1(Y[few].toarray(), model.decision_function(X[few]))
    data = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
    goal = 4 * rows * labels / 2**20 + 2 * model.bytes_of_weights / 2**20
    return [
        f"{rows:,}",
        str(labels),
        f"{seconds:.0f}",
        f"{relative_gap(model):.1e}",
        f"{quality:.3f}",
        f"{before:,.0f} (data: {data:,.0f})",
        f"{peak - before:,.0f}",
        f"{goal:,.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help=f"rows (default: {ROWS[0]:,}, then {ROWS[1]:,})")
    args = parser.parse_args()
    with threadpool_limits(1):
        scale([args.rows] if args.rows else ROWS)


if __name__ == "__main__":
    main()
