"""What features of a text are worth, and what merged labels should weigh: the guide's tables.

    python -m benchmarks.features

Progressive runs of a Tagger with the default learner over the texts of Debian tags and 20
Newsgroups (TAGALONG_DATA): one-error / average precision for each setting of `TextFeatures`. Then,
on Debian tags after 12,000 items, labels are merged in pairs, and the next 2,000 items are ranked:
with the merged weights added up, as `merge_labels` does, and with their mean.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from benchmarks.streams import SEED, NoData, data_path, newsgroup_posts
from tagalong import Item, Tagger
from tagalong.evaluate import Progress
from tagalong.features import TextFeatures
from tagalong.readers import read

SETTINGS: dict[str, TextFeatures] = {
    "binary": TextFeatures(weighting="binary"),
    "log": TextFeatures(weighting="log"),
    "tfidf": TextFeatures(weighting="tfidf"),
    "log, words=(1, 2)": TextFeatures(weighting="log", words=(1, 2)),
}
LEARNT, RANKED, PAIRS = 12_000, 2_000, 30


def debtags() -> list[Item]:
    return list(read(data_path("debtags-texts.jsonl.xz")))


def measured(items: Iterable[Item], features: TextFeatures) -> str:
    tagger, progress = Tagger(features=copy.deepcopy(features)), Progress()
    for item in items:
        progress.add(tagger.watch(item))
    found = progress.report(tagger.labels).overall
    return f"{found.one_error:.3f} / {found.average_precision:.3f}"


def halve(tagger: Tagger, labels: list[str]) -> None:
    """Weigh labels by their shares of the items, so that their sum is their mean."""
    learner, counts = tagger.learner, tagger.history.count
    numbers = [learner._labels.number[label] for label in labels]
    state = learner._native.state()
    for number in numbers:
        for plane in ("theta", "means"):
            state["arrays"][plane][:, number] *= counts[number] / counts[numbers].sum()
    native = learner._make_native(learner._settings)
    native.restore(state)
    learner._native = native


def merged(items: list[Item], mean: bool) -> float:
    tagger = Tagger()
    for item in items[:LEARNT]:
        tagger.learn(item)
    counts = dict(zip(tagger.labels, tagger.history.count, strict=True))
    frequent = [label for label, count in counts.items() if count > 100]
    np.random.default_rng(SEED).shuffle(frequent)
    pairs = list(zip(frequent[: 2 * PAIRS : 2], frequent[1 : 2 * PAIRS : 2], strict=True))
    for kept, gone in pairs:
        if mean:
            halve(tagger, [kept, gone])
        tagger.merge_labels([kept, gone], into=kept)
    now = {gone: kept for kept, gone in pairs}
    return average_precision(tagger, items[LEARNT : LEARNT + RANKED], now)


def average_precision(tagger: Tagger, items: Iterable[Item], now: dict[str, str]) -> float:
    """The mean over the items, none of which is learnt."""
    total, count = 0.0, 0
    for item in items:
        labels = {now.get(label, label) for label in item.labels or ()}
        ranks = [i for i, s in enumerate(tagger.suggest(item, k=None), 1) if s.label in labels]
        if ranks:
            total += sum(place / rank for place, rank in enumerate(ranks, 1)) / len(ranks)
            count += 1
    return total / count


def main() -> None:
    streams = {"Debian tags": debtags(), "20 Newsgroups": newsgroup_posts()}
    print("| stream | " + " | ".join(f"`{name}`" for name in SETTINGS) + " |")
    print("|---" * (len(SETTINGS) + 1) + "|")
    for name, items in streams.items():
        cells = [measured(items, features) for features in SETTINGS.values()]
        print(f"| {name} ({len(items):,} texts) | " + " | ".join(cells) + " |", flush=True)
    items = streams["Debian tags"]
    for name, mean in (("added up", False), ("their mean", True)):
        print(f"merged weights {name}: average precision {merged(items, mean):.3f}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except NoData as error:
        raise SystemExit(str(error)) from None
