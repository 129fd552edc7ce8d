"""Golden runs on text items, with a Tagger and with the command line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tagalong import Item, LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker, Tagger
from tagalong.cli.main import main
from tagalong.features import TextFeatures
from tests.golden import stream
from tests.golden.digest import Digests, Run, digest, file_contents, file_digest
from tests.golden.settings import make

TAGGERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "label-ranker": (lambda: make(LabelRanker, n_features=None), {}),
    "vocabulary-tfidf": (
        lambda: make(LabelRanker, n_features=None, geometry="adaptive", average="auto"),
        {"buckets": None, "weighting": "tfidf", "words": (1, 2), "chars": (3, 4)},
    ),
    "entropic": (lambda: make(LabelRanker, n_features=None, geometry="entropic"), {}),
    "predtron": (lambda: make(Predtron, n_features=None), {}),
    "shared": (lambda: make(SharedLabelRanker, n_features=None), {}),
    "partial": (
        lambda: make(PartialFeedbackRanker, n_features=None, covariance="diagonal"),
        {"buckets": 2**10},
    ),
}


def taggers() -> Iterator[tuple[str, Run]]:
    for name in TAGGERS:
        yield f"tagger/{name}", tagger_run(name)
    for name in ("label-ranker", "shared", "predtron", "entropic"):
        yield f"tagger/{name}/label-operations", label_operations_run(name)


def _tagger(name: str) -> Tagger:
    learner, features = TAGGERS[name]
    tagger = Tagger(learner(), make(TextFeatures, **features))
    for text, labels, weight in zip(stream.TEXTS, stream.NAMED_SETS, stream.WEIGHTS, strict=True):
        tagger.learn(_item(text), labels, weight=weight)
    return tagger


def _item(text: dict[str, str]) -> Item:
    return Item(text=text)


def _suggested(tagger: Tagger) -> list[Any]:
    return [
        [(found.label, found.score, found.probability, found.chosen) for found in suggestions]
        for suggestions in (tagger.suggest(_item(text), k=4) for text in stream.TEXTS[:20])
    ]


def tagger_run(name: str) -> Run:
    def run(_: Path) -> Digests:
        tagger = _tagger(name)
        explained = tagger.explain(_item(stream.TEXTS[0]), "label-3" if name != "partial" else None)
        answers = [_suggested(tagger), explained.score, list(explained.parts)]
        return {"file": file_digest(tagger), "answers": digest(answers)}

    return run


def label_operations_run(name: str) -> Run:
    def run(_: Path) -> Digests:
        tagger = _tagger(name)
        names = tagger.labels
        tagger.rename_label(names[0], "renamed")
        tagger.merge_labels([names[1], names[4]], names[2])
        tagger.forget_label(names[5])
        if name not in ("entropic", "shared"):
            tagger.prune(12)
        for text, labels in zip(stream.TEXTS[:9], stream.NAMED_SETS, strict=False):
            tagger.learn(_item(text), labels)
        answers = digest([_suggested(tagger), tagger.labels, str(tagger.certificate_)])
        return {"file": file_digest(tagger), "answers": answers}

    return run


COMMANDS = {
    "label-ranker": ["--update", "optimal", "--geometry", "euclidean", "-C", "1.5"],
    "averaged": ["--update", "smooth", "--geometry", "adaptive", "-C", "2", "--average", "auto"],
    "predtron": ["--learner", "predtron", "--problem", "label-ranking", "--set", "step=0.5"],
    "partial": ["--learner", "partial", "--slots", "3", "--set", "exploration=0.1"],
    "shared": ["--learner", "shared", "--update", "simproj", "--geometry", "euclidean", "-C", "1"],
}


def commands() -> Iterator[tuple[str, Run]]:
    for name, options in COMMANDS.items():
        yield f"command-line/{name}", command_run(options)


def command_run(options: list[str]) -> Run:
    def run(folder: Path) -> Digests:
        source, model = folder / "items.jsonl", folder / "model.tagalong"
        lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in stream.items())
        source.write_text("".join(lines), encoding="utf-8")
        features = ["--words", "1,1", "--weighting", "log", "--buckets", "4096", "--backoff", "no"]
        code = main(["learn", str(source), "--model", str(model), *options, *features, "-q"])
        assert code == 0, f"tagalong learn {' '.join(options)} ended with {code}"
        contents = file_contents(model)
        del contents["header"]["notes"]  # they name the temporary source file
        return {"file": digest(contents)}

    return run
