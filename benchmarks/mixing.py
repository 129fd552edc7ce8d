"""Streams learnt in shards: average precision of mixtures, compared with one learner.

``python -m benchmarks.mixing`` learns the first 80 % of Debian tags in shards, each by one learner
(``race=None``), mixes them after every epoch, and measures the rest, which nobody has learnt.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.markdown import table
from benchmarks.streams import NoData, load
from tagalong import LabelRanker
from tagalong.distributed import learn
from tagalong.distributed.shards import packed
from tagalong.evaluate import frozen

SHARE = 0.8


def main(arguments: list[str] | None = None) -> int:
    """Print a table: rows are numbers of shards, columns are epochs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--how", default="average", help="average, sum or one factor for all")
    parser.add_argument("--rows", type=int, help="only so many rows")
    args = parser.parse_args(arguments)
    try:
        stream = load("debtags")
    except NoData as error:
        print(error, file=sys.stderr)
        return 1
    X, Y = stream.X[: args.rows], stream.Y[: args.rows]
    learnt = int(SHARE * X.shape[0])
    held_out = X[learnt:], Y[learnt:]
    one = LabelRanker(race=None)
    reference = []
    for _ in range(args.epochs):
        one.partial_fit(X[:learnt], Y[:learnt])
        reference.append(frozen(one, *held_out).overall.average_precision)
    epochs = [f"epoch {n + 1}" for n in range(args.epochs)]
    header = ["shards", *epochs, "dual", "seconds", "MB per epoch"]
    dual = f"{one.certificate_.dual:.6g}"
    rows = [["one learner", *(f"{found:.4f}" for found in reference), dual, "", ""]]
    for count in args.shards:
        shards = [(X[k:learnt:count], Y[k:learnt:count]) for k in range(count)]
        how = args.how if args.how in ("average", "sum") else [float(args.how)] * count
        started = time.perf_counter()
        with ThreadPoolExecutor(1) as client:
            found = learn(LabelRanker(race=None), shards, client, args.epochs, how, held_out)
        seconds = time.perf_counter() - started
        precisions = [f"{epoch.held_out:.4f}" for epoch in found.epochs]
        last = f"{found.epochs[-1].dual:.6g}"
        sent = 2 * count * len(packed(found.model)) / 1e6  # to every worker, and back
        rows.append([str(count), *precisions, last, f"{seconds:.1f}", f"{sent:.0f}"])
    print(table(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
