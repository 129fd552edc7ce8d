"""Sizes of model files: format 5, the present format and compact models.

    python -m benchmarks.model_size [--limit N] [--repeat 5]
    python -m benchmarks.model_size --choose [--limit N]

The first form learns the default learner on the first 25,000 items of the Debian tags and tests on
the rest: bytes, time to load and average precision of the same model in each form. Times are
medians of loads in turn; every load includes the checksum. The second form shows how much of the
weights a compact model can drop, on newsgroups (texts) and bibtex (a matrix of 0 and 1): the
default was chosen there and confirmed on the Debian tags.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

import tagalong
from benchmarks import streams
from benchmarks.markdown import table
from tagalong import LabelRanker, Tagger
from tagalong.learning.array_codec import unpacked
from tagalong.learning.items import Item
from tagalong.learning.model_files import pack
from tagalong.online.compact import DROPPED_SHARE, compact_ranker
from tagalong.readers import read

TRAINING = 25_000
SHARES = (0.0, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, help="use so many items only")
    parser.add_argument("--repeat", type=int, default=5, help="loads of each file")
    parser.add_argument("--choose", action="store_true", help="show what may be dropped")
    arguments = parser.parse_args()
    if arguments.choose:
        print(choice(arguments.limit))
    else:
        print(sizes(arguments.limit, arguments.repeat))


def sizes(limit: int | None, repeat: int) -> str:
    """Return a table of the forms of one model of the Debian tags."""
    items = list(read(streams.data_path("debtags-texts.jsonl.xz")))[:limit]
    count = min(TRAINING, len(items) * 5 // 6)
    tagger = learnt(items[:count])
    tested = items[count:]
    with TemporaryDirectory() as folder:
        forms = {
            "format 5": Path(folder) / "5",
            "format 6": Path(folder) / "6",
            f"compact, {DROPPED_SHARE:g} dropped": Path(folder) / "compact",
        }
        five, six, compact = forms.values()
        save_as_format_5(tagger, five)
        tagger.save(six)
        tagger.compact().save(compact)
        seconds: dict[Path, list[float]] = {path: [] for path in forms.values()}
        for _ in range(repeat):
            for path, taken in seconds.items():
                start = time.perf_counter()
                tagalong.load(path)
                taken.append(time.perf_counter() - start)
        rows = []
        for name, path in forms.items():
            size, median = path.stat().st_size, statistics.median(seconds[path])
            rows.append(
                [
                    name,
                    f"{size:,}",
                    f"{size / five.stat().st_size:.3f}",
                    f"{median:.3f} s",
                    f"{median / statistics.median(seconds[five]):.2f}",
                    f"{tagger_precision(tagalong.load(path), tested):.4f}",
                ]
            )
    headers = ["form", "bytes", "of format 5", "load", "of format 5", "average precision"]
    about = f"{count:,} items learnt, {len(tested):,} tested; {len(tagger.labels)} labels."
    return f"{about}\n\n{table(headers, rows)}"


def choice(limit: int | None) -> str:
    """Return a table of size and quality of compact models that drop more or less."""
    parts = []
    posts = streams.newsgroup_posts("train")[:limit]
    tested = streams.newsgroup_posts("test")[:limit]
    tagger = learnt(posts)
    parts.append(dropping("newsgroups", lambda path, share: saved(tagger, path, share), tested))
    stream = streams.load("bibtex")
    X, Y = stream.X[:limit], stream.Y[:limit]
    half = X.shape[0] * 4 // 5
    ranker = LabelRanker().partial_fit(X[:half], Y[:half])

    def score(model: Any) -> float:
        return average_precision(
            model.decision_function(X[half:]), np.asarray(Y[half:].todense()) > 0
        )

    def save(path: Path, share: float | None) -> float:
        model = ranker if share is None else compact_ranker(ranker, share)
        model.save(path)
        return score(tagalong.load(path))

    parts.append(shown("bibtex", save))
    return "\n\n".join(parts)


def dropping(name: str, save: Callable[[Path, float | None], Any], items: list[Item]) -> str:
    """Return the table of a stream of texts."""
    return shown(name, lambda path, share: tagger_precision(save(path, share), items))


def saved(tagger: Tagger, path: Path, share: float | None) -> Any:
    """Save a tagger, or a compact copy that drops a share, and load it again."""
    (tagger if share is None else tagger.compact(share)).save(path)
    return tagalong.load(path)


def shown(name: str, measure: Callable[[Path, float | None], float]) -> str:
    """Return a table with a row for the full model and one per dropped share."""
    rows = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for share in (None, *SHARES):
            quality = measure(path, share)
            form = "full" if share is None else f"{share:g}"
            rows.append([form, f"{path.stat().st_size:,}", f"{quality:.4f}"])
    return f"{name}:\n\n{table(['dropped', 'bytes', 'average precision'], rows)}"


def learnt(items: list[Item]) -> Tagger:
    """Return a tagger with the default learner that has learnt the items in order."""
    tagger = Tagger()
    for begin in range(0, len(items), 256):
        if tagger.watch_together(items[begin : begin + 256]) is None:
            for item in items[begin : begin + 256]:
                tagger.learn(item)
    return tagger


def tagger_precision(tagger: Any, items: list[Item]) -> float:
    """Return the mean average precision of a tagger; labels that it does not know are left out."""
    rows = tagger.features.read_rows(items, match=True)
    places = tagger.learner.find_places(rows)
    scores = np.full(places.labels.shape, -np.inf)
    np.put_along_axis(scores, places.labels, places.scores, axis=1)
    relevant = np.zeros(scores.shape, dtype=bool)
    number = tagger.learner.labels.number
    for row, item in enumerate(items):
        for label in item.labels or ():
            if label in number:
                relevant[row, number[label]] = True
    return average_precision(scores, relevant)


def average_precision(scores: npt.NDArray[Any], relevant: npt.NDArray[np.bool_]) -> float:
    """Return the mean over the rows with a relevant label."""
    found = []
    ranks = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    for rank, right in zip(ranks, relevant, strict=True):
        places = np.sort(rank[right]) + 1
        if len(places):
            found.append(np.mean(np.arange(1, len(places) + 1) / places))
    return float(np.mean(found))


def save_as_format_5(tagger: Tagger, path: Path) -> None:
    """Write a model as older versions did: all arrays as they are."""
    from safetensors.numpy import save_file

    header, contents = pack(tagger)
    arrays = unpacked(contents)
    text = json.dumps({"format": 5, "tagalong": "0.1.0", **header})
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode() + array.tobytes())
    save_file(arrays, path, metadata={"tagalong": text, "sha256": digest.hexdigest()})


if __name__ == "__main__":
    main()
