"""Streams learnt in shards: average precision of mixtures, compared with one learner.

``python -m benchmarks.mixing`` learns the first 80 % of a stream in shards, each by one learner
(``race=None``), mixes them after every epoch, and measures the rest, which nobody has learnt. The
factor .35 was chosen on Debian tags in their own order; the other rows, with that stream in random
orders and with newsgroups, which had no part in the choice, show whether it holds elsewhere.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.markdown import table
from benchmarks.streams import NoData, load, names
from tagalong import LabelRanker
from tagalong.distributed import learn
from tagalong.distributed.shards import packed
from tagalong.evaluate import frozen

SHARE = 0.8


def main(arguments: list[str] | None = None) -> int:
    """Print a table: rows are streams and numbers of shards, columns are epochs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=["debtags", "newsgroups"], choices=names())
    parser.add_argument("--orders", type=int, default=2, help="the own one and random ones")
    parser.add_argument("--shards", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument(
        "--how", nargs="+", default=["average", ".35"], help="average, sum or one factor for all"
    )
    parser.add_argument("--rows", type=int, help="only so many rows")
    args = parser.parse_args(arguments)
    epochs = [f"epoch {n + 1}" for n in range(args.epochs)]
    header = ["stream", "order", "shards", "how", *epochs, "less than one learner"]
    rows = []
    for name in args.sets:
        try:
            stream = load(name)
        except NoData as error:
            print(error, file=sys.stderr)
            return 1
        for order in range(args.orders):
            chosen = np.arange(stream.X.shape[0])
            if order:
                np.random.default_rng(order).shuffle(chosen)
            chosen = chosen[: args.rows]
            found = compared(stream.X[chosen], stream.Y[chosen], args)
            title = f"random {order}" if order else "its own"
            rows += [[name, title, *row] for row in found]
    print(table([*header, "dual", "MB per epoch"], rows))
    return 0


def compared(X: Any, Y: Any, args: argparse.Namespace) -> list[list[str]]:
    """Return the rows of one stream in one order."""
    learnt = int(SHARE * X.shape[0])
    held_out = X[learnt:], Y[learnt:]
    one = LabelRanker(race=None)
    reference = []
    for _ in range(args.epochs):
        one.partial_fit(X[:learnt], Y[:learnt])
        reference.append(frozen(one, *held_out).overall.average_precision)
    dual = f"{one.certificate_.dual:.6g}"
    rows = [["one learner", "", *(f"{found:.4f}" for found in reference), "", dual, ""]]
    for count in args.shards:
        shards = [(X[k:learnt:count], Y[k:learnt:count]) for k in range(count)]
        for how in args.how:
            factors = how if how in ("average", "sum") else [float(how)] * count
            with ThreadPoolExecutor(1) as client:
                found = learn(
                    LabelRanker(race=None), shards, client, args.epochs, factors, held_out
                )
            precisions = [epoch.held_out or 0.0 for epoch in found.epochs]
            less = [f"{best - own:.4f}" for best, own in zip(reference, precisions, strict=True)]
            last = f"{found.epochs[-1].dual:.6g}"
            sent = 2 * count * len(packed(found.model)) / 1e6  # to every worker, and back
            shown = (f"{own:.4f}" for own in precisions)
            rows.append([str(count), how, *shown, ", ".join(less), last, f"{sent:.0f}"])
    return rows


if __name__ == "__main__":
    sys.exit(main())
