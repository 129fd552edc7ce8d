"""The service under load, beside its limits and a peer: ``python -m benchmarks.service``.

All servers are processes of their own on this machine, with the same HTTP parser and event loop;
one more process makes the load. Suggestions for texts of the Debian tags are measured beside a
Starlette application that answers a constant of the same size, which is the limit of the tools, and
beside a service of FastAPI and scikit-learn. Answers, each on the disk before it is acknowledged,
are measured beside rows of a plain SQLite table with the same durability; items sent together,
beside learning alone. The competitors take turns.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from statistics import median
from urllib.parse import quote

from benchmarks.journal import fill, in_threads, plain_inserts, temporary_folder
from benchmarks.markdown import table
from benchmarks.service_peers import PATH
from benchmarks.service_servers import Measured, ServerProcess, measure
from benchmarks.streams import data_path
from benchmarks.turns import Ratio, prepare_turn, with_range
from benchmarks.verdicts import Verdict
from tagalong import Tagger
from tagalong.journal import Workspace
from tagalong.readers import Item, read

CONNECTIONS = 16
BATCH = 256
LOAD = 0.5
"""Latency is measured at this share of the rate at which our server is saturated."""

OURS, CONSTANT, SGD = "Tagalong", "a constant, Starlette", "SGD, FastAPI and scikit-learn"
WORKSPACES = "/api/v1/workspaces"
W = f"{WORKSPACES}/default"
LEAST_SHARE = 0.5
"""Goal: suggestions and answers per second, as a share of their limits."""

MOST_TIMES = 3.0
"""Goal: the 99th percentile of the latency, as a multiple of that of the constant."""


def start_all(stack: ExitStack, folder: Path, learnt: int, texts: Sequence[str]) -> Servers:
    """Start our server, and the others as far as their packages are installed."""
    options = ["--port", "0", "--json", "--no-browser", "--access-log", f"{folder}.log"]
    ours = _start(stack, ["tagalong", "serve", os.fspath(folder), *options], f"{W}/suggest")
    size = round(median(len(ours.call(ours.path, {"text": text})) for text in texts[:100]))
    constant = _start(stack, ["benchmarks.service_peers", "constant", str(size)], PATH)
    servers = {CONSTANT: constant, OURS: ours}
    if find_spec("fastapi") is not None:
        servers[SGD] = _start(stack, ["benchmarks.service_peers", "sgd", str(learnt)], PATH)
    return servers


Servers = dict[str, ServerProcess]


def _start(stack: ExitStack, arguments: Sequence[str], path: str) -> ServerProcess:
    _note(f"starting {' '.join(arguments[:3])}")
    server = ServerProcess(arguments, path)
    stack.callback(server.stop)
    return server


def take_turns(
    pool: Executor,
    servers: Mapping[str, ServerProcess],
    texts: Sequence[str],
    repeat: int,
    rate: float | None = None,
) -> dict[str, Measured]:
    """Ask all servers for suggestions for the same texts, one server after the other."""
    found = {name: Measured() for name in servers}
    bodies = [{"text": text} for text in texts]
    for turn in range(repeat):
        for name, server in servers.items():
            requests = [server.request(body) for body in bodies]
            prepare_turn()
            measure(pool, found[name], server, requests, CONNECTIONS, rate)
            _note(f"turn {turn + 1}, {name}: {found[name].rates[-1]:,.0f} requests/s")
    return found


def saturated(found: Mapping[str, Measured], servers: Servers) -> str:
    """Suggestions per second with all connections busy, and what they cost."""
    rows = []
    for name, each in found.items():
        micros = [seconds * 1e6 for seconds in each.processor_seconds]
        cells = [
            f"{median(each.rates):,.0f}",
            str(_ratio(each.rates, found[CONSTANT].rates)),
            with_range(median(micros), micros, ".0f"),
            f"{median(each.percentiles(50)):.1f}",
            f"{median(each.percentiles(99)):.1f}",
            f"{each.answer_bytes:,.0f}",
            f"{servers[name].memory() / 1e6:,.0f}",
            f"{each.load_share:.0%}",
        ]
        rows.append([name, *cells])
    heads = ["requests/s", "× constant", "processor µs per request", "p50, ms", "p99, ms"]
    more = ["bytes of an answer", "memory, MB", "load, at most"]
    return table([f"{CONNECTIONS} connections", *heads, *more], rows)


def latencies(found: Mapping[str, Measured], rate: float) -> str:
    """Latencies at a steady rate, the same for all."""
    rows = []
    for name, each in found.items():
        high = each.percentiles(99)
        ratio = _ratio(high, found[CONSTANT].percentiles(99))
        p50, p99 = median(each.percentiles(50)), with_range(median(high), high, ".2f")
        rows.append([name, f"{p50:.2f}", p99, str(ratio)])
    return table([f"{rate:,.0f} requests/s", "p50, ms", "p99, ms", "p99 × constant"], rows)


def suggestions(
    pool: Executor, servers: Servers, texts: Sequence[str], repeat: int
) -> Iterator[str | Verdict]:
    """Measure suggestions, as fast as possible and at a steady rate."""
    take_turns(pool, servers, texts, 1)  # the first requests wait for memory
    fast = take_turns(pool, servers, texts, repeat)
    yield "## Suggestions"
    yield saturated(fast, servers)
    if SGD not in servers:
        yield f"{SGD}: left out, because FastAPI is not installed."
    rate = LOAD * median(fast[OURS].rates)
    able = {name: servers[name] for name in servers if median(fast[name].rates) > rate}
    steady = take_turns(pool, able, texts, repeat, rate)
    yield latencies(steady, rate)
    for name in set(servers) - set(able):
        yield f"{name}: left out at this rate, because it is too slow."
    share = _ratio(fast[OURS].rates, fast[CONSTANT].rates)
    yield Verdict(
        f"suggestions per second at least {LEAST_SHARE} × those of a constant",
        share.median >= LEAST_SHARE,
        f"{share} ×",
    )
    times = _ratio(steady[OURS].percentiles(99), steady[CONSTANT].percentiles(99))
    yield Verdict(
        f"p99 at the same rate at most {MOST_TIMES:g} × that of a constant",
        times.median <= MOST_TIMES,
        f"{times} ×",
    )


def answers(
    pool: Executor, server: ServerProcess, folder: Path, items: Sequence[Item], repeat: int
) -> Iterator[str | Verdict]:
    """Measure answers that are acknowledged when they are on the disk, beside plain rows.

    Every item is answered once. One connection gets a fifth of them.
    """
    waiting = iter(items)
    rows = []
    shares = {}
    for connections in (1, CONNECTIONS):
        count = len(items) // repeat * (1 if connections == 1 else 4) // 5
        texts = [f"answer {number} of an item, with its labels" for number in range(count)]
        insert = in_threads(plain_inserts(folder, texts, f"{connections}"), count, connections)
        plain, ours = [], Measured()
        for _ in range(repeat):
            prepare_turn()
            start = time.perf_counter()
            insert()
            plain.append(count / (time.perf_counter() - start))
            requests = [_answer(server, item) for item in islice(waiting, count)]
            measure(pool, ours, server, requests, connections)
            _note(f"{connections}: {plain[-1]:,.0f} rows/s, {ours.rates[-1]:,.0f} answers/s")
        shares[connections] = _ratio(ours.rates, plain)
        cells = [f"{median(plain):,.0f}", f"{median(ours.rates):,.0f}", str(shares[connections])]
        micros = median(ours.processor_seconds) * 1e6
        times = [f"{median(ours.percentiles(percent)):.1f}" for percent in (50, 99)]
        rows.append([f"{connections}", *cells, f"{micros:,.0f}", *times])
    yield "## Answers"
    heads = ["plain rows/s", "answers/s", "ratio", "processor µs per answer", "p50, ms", "p99, ms"]
    yield table(["connections or threads", *heads], rows)
    yield Verdict(
        f"answers per second at least {LEAST_SHARE} × plain rows, {CONNECTIONS} connections",
        shares[CONNECTIONS].median >= LEAST_SHARE,
        f"{shares[CONNECTIONS]} ×",
    )


def _answer(server: ServerProcess, item: Item) -> bytes:
    path = f"{W}/items/{quote(item.id, safe='')}/answer"
    return server.request({"labels": list(item.labels or ())}, path)


def batches(server: ServerProcess, items: Sequence[Item], repeat: int) -> Iterator[str]:
    """Measure items that are sent in one request and learnt, beside learning alone."""
    lines = [
        json.dumps({"id": item.id, "text": str(item.text), "labels": list(item.labels or ())})
        for item in items
    ]
    body = "\n".join(lines).encode()
    sent, learnt, used = [], [], []
    for turn in range(repeat):
        name = f"turn-{turn}"
        server.call(WORKSPACES, {"name": name})
        prepare_turn()
        before, start = server.processor_seconds(), time.perf_counter()
        replies = server.call(f"{WORKSPACES}/{name}/items:batch", body, "x-ndjson").splitlines()
        sent.append(len(items) / (time.perf_counter() - start))
        used.append((server.processor_seconds() - before) / len(items) * 1e6)
        if any(json.loads(line).get("outcome") != "new" for line in replies):
            raise RuntimeError(f"not all items were added: {replies[0]!r}")
        prepare_turn()
        tagger, start = Tagger(), time.perf_counter()
        for first in range(0, len(items), BATCH):
            tagger.watch_together(items[first : first + BATCH])
        learnt.append(len(items) / (time.perf_counter() - start))
    rows = [
        ["POST items:batch, stored and learnt", f"{median(sent):,.0f}", str(_ratio(sent, learnt))],
        ["learnt alone", f"{median(learnt):,.0f}", "1"],
    ]
    yield "## Items in one request"
    yield table([f"{len(items):,} items with labels", "items/s", "ratio"], rows)
    yield f"The server needs {median(used):,.0f} µs of processor time per item."


def _ratio(mine: Sequence[float], theirs: Sequence[float]) -> Ratio:
    return Ratio([one / other for one, other in zip(mine, theirs, strict=True)])


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="folder on the disk to measure (default: temporary)")
    parser.add_argument("--learnt", type=int, default=10_000, help="items that are learnt before")
    parser.add_argument("--suggestions", type=int, default=4000, help="requests per turn")
    parser.add_argument("--answers", type=int, default=12_000, help="items to answer in all turns")
    parser.add_argument("--items", type=int, default=3000, help="items sent in one request")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with read(os.fspath(data_path("debtags-texts.jsonl.xz"))) as stream:
        items = list(islice(stream, args.learnt + max(args.answers, args.suggestions)))
    learnt, rest = items[: args.learnt], items[args.learnt :]
    labels = {label for item in learnt for label in item.labels or ()}
    lines = f"{len(learnt):,} items of the Debian tags, {len(labels)} labels"
    with temporary_folder(args.folder) as folder, ExitStack() as stack:
        _note(f"learning {lines}")
        with Workspace(folder / "debtags") as workspace:
            fill(workspace, learnt)
            fill(workspace, [Item(item.id, item.text) for item in rest[: args.answers]])
        texts = [str(item.text) for item in rest[: args.suggestions]]
        size = sum(len(text.encode()) for text in texts) / len(texts)
        print(f"The model has learnt {lines}; the texts have {size:.0f} bytes on average.\n")
        servers = start_all(stack, folder / "debtags", args.learnt, texts)
        context = multiprocessing.get_context("spawn")
        pool = stack.enter_context(ProcessPoolExecutor(1, context))
        verdicts = []
        ours = servers[OURS]
        for part in (
            suggestions(pool, servers, texts, args.repeat),
            answers(pool, ours, folder, rest[: args.answers], args.repeat),
            batches(ours, items[: args.items], args.repeat),
        ):
            for each in part:
                if isinstance(each, Verdict):
                    verdicts.append(each)
                else:
                    print(each, end="\n\n", flush=True)
        print("## Goals", "", *verdicts, sep="\n", flush=True)


if __name__ == "__main__":
    main()
