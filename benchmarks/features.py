"""Quality by text features, and by the weights of merged labels: the tables of the guide.

    python -m benchmarks.features

A Tagger with the default learner runs progressively over the texts of Debian tags and of 20
Newsgroups (TAGALONG_DATA). The table has one-error / average precision for each setting of
`TextFeatures`. After 12,000 items of Debian tags, 30 pairs of labels are merged, and the next 2,000
items are ranked: once with the sum of the merged weights, as in `merge_labels`, and once with their
mean.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from benchmarks.streams import SEED, NoData, data_path, newsgroup_posts
from tagalong import Item, LabelRanker, Tagger
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


def progressive_quality(items: Iterable[Item], features: TextFeatures) -> str:
    tagger, progress = Tagger(features=copy.deepcopy(features)), Progress()
    for item in items:
        progress.add(tagger.watch(item))
    found = progress.report(tagger.labels).overall
    return f"{found.one_error:.3f} / {found.average_precision:.3f}"


def scale_by_share(tagger: Tagger, labels: list[str]) -> None:
    """Scale the weights of labels by their shares of the items; their sum is then the mean."""
    learner, counts = tagger.learner, tagger.history.count
    assert isinstance(learner, LabelRanker)
    numbers = [learner._labels.number[label] for label in labels]
    state = learner._native.state()
    for number in numbers:
        for plane in ("theta", "means"):
            state["arrays"][plane][:, number] *= counts[number] / counts[numbers].sum()
    native = learner._make_native(learner._settings)
    native.restore(state)
    learner._native = native


def precision_after_merging(items: list[Item], mean: bool) -> float:
    tagger = Tagger()
    for item in items[:LEARNT]:
        tagger.learn(item)
    counts = dict(zip(tagger.labels, tagger.history.count, strict=True))
    frequent = [label for label, count in counts.items() if count > 100]
    np.random.default_rng(SEED).shuffle(frequent)
    pairs = list(zip(frequent[: 2 * PAIRS : 2], frequent[1 : 2 * PAIRS : 2], strict=True))
    for kept, removed in pairs:
        if mean:
            scale_by_share(tagger, [kept, removed])
        tagger.merge_labels([kept, removed], into=kept)
    renamed = {removed: kept for kept, removed in pairs}
    return average_precision(tagger, items[LEARNT : LEARNT + RANKED], renamed)


def average_precision(tagger: Tagger, items: Iterable[Item], renamed: dict[str, str]) -> float:
    """The mean average precision over items, which are not learnt."""
    total, count = 0.0, 0
    for item in items:
        labels = {renamed.get(label, label) for label in item.labels or ()}
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
        cells = [progressive_quality(items, features) for features in SETTINGS.values()]
        print(f"| {name} ({len(items):,} texts) | " + " | ".join(cells) + " |", flush=True)
    items = streams["Debian tags"]
    for name, mean in (("sum", False), ("mean", True)):
        precision = precision_after_merging(items, mean)
        print(f"{name} of the merged weights: average precision {precision:.3f}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except NoData as error:
        raise SystemExit(str(error)) from None
