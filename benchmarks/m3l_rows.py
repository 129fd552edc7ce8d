"""M3L with the rows divided into shards: ``python -m benchmarks.m3l_rows rcv1 debtags``.

Rows of unit length, C = 1. For each number of shards the table says after how many rounds the
relative duality gap of the whole problem is at most ``--gap``; ``--each`` prints every round. The
bytes of a round are what travels if each shard has its own worker: the weights of all shards but
one on the way to their sum, and the sum to all workers but one. Shards are computed by threads of
this process, so the seconds are those of all shards together.
"""

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from benchmarks import streams
from benchmarks.markdown import table
from tagalong import M3LClassifier
from tagalong.distributed import fit
from tagalong.distributed.row_rounds import Round

HEADERS = (
    "data set", "shards", "σ'", "passes", "rounds", "relative gap", "dual", "falls of the dual",
    "MB per round", "seconds",
)  # fmt: skip


def run(name: str, shards: int, options: argparse.Namespace) -> list[str]:
    """Fit one data set in shards; return a row of the table."""
    data = streams.load(name)
    X, Y = normalize(data.X)[: options.rows], data.Y[: options.rows]
    rounds: list[Round] = []

    def note(each: Round) -> None:
        rounds.append(each)
        if options.each:
            print(
                f"{name} {shards} {each.number} {each.relative_gap:.5f} {each.dual:.6f}", flush=True
            )

    sigma = None if options.sigma is None else max(1.0, options.sigma * shards)
    start = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as client, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fit(
            M3LClassifier(random_state=0, tol=1e-2),
            X,
            Y,
            client,
            by="rows",
            shards=shards,
            sigma=sigma,
            local_passes=options.passes,
            gap=options.gap,
            max_rounds=options.max_rounds,
            on_round=note,
        )
    seconds = time.perf_counter() - start
    weights = model.weights_by_feature()["weights"].nbytes
    falls = sum(after.dual < before.dual for before, after in pairwise(rounds))
    return [
        name,
        str(shards),
        f"{sigma or shards:g}",
        str(options.passes),
        f"{len(rounds)}" if model.fit_report_.converged else f"over {len(rounds)}",
        f"{rounds[-1].relative_gap:.4f}",
        f"{rounds[-1].dual:.2f}",
        str(falls),
        f"{2 * (shards - 1) * weights / 1e6:.1f}",
        f"{seconds:.0f}",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=["rcv1", "debtags"], choices=streams.names())
    parser.add_argument("--shards", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--passes", type=int, default=5, help="per shard and round")
    parser.add_argument("--sigma", type=float, help="σ' as a share of the shards (default: 1)")
    parser.add_argument("--gap", type=float, default=1e-2)
    parser.add_argument("--max-rounds", type=int, default=300)
    parser.add_argument("--rows", type=int, help="only the first rows")
    parser.add_argument("--each", action="store_true", help="print every round")
    options = parser.parse_args(arguments)
    found = [run(name, shards, options) for name in options.sets for shards in options.shards]
    print(table(HEADERS, found), flush=True)


if __name__ == "__main__":
    main()
