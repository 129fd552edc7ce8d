"""The sound model files that the fuzzer changes: every kind of model, every older file format."""

import datetime
import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import tagalong
from tagalong import LabelRanker, M3LClassifier, OrdinalRanker, Predtron, SharedLabelRanker, Tagger
from tagalong.cli.main import main
from tagalong.features import TextFeatures
from tagalong.learning import model_files
from tagalong.learning.array_codec import unpacked
from tagalong.online.compact import compact_ranker
from tagalong.problems import Binary, Multiclass, Ordinal, SubsetRanking
from tests.contract.learners import LEARNERS
from tests.contract.stream import make_stream
from tests.data.make_models import TEXTS
from tests.fuzz.model_mutations import Contents
from tests.mail.filing.maildirs import Mail, file_mail, text_about
from tests.model_files import parts
from tests.race_streams import changing_words

DATA = Path(__file__).parents[1] / "data"
STREAM = make_stream(rows=30, labels=6)


def seeds() -> dict[str, Contents]:
    """Return header and arrays of each sound file, by name."""
    found = {path.stem: parts(path) for path in sorted(DATA.glob("*.tagalong"))}
    for name, model in _models():
        header, arrays = model_files.pack(model)
        header = {"format": model_files.FORMAT, "tagalong": "0", **header}
        found[name] = (header, unpacked(arrays))
    return found


def _models() -> Iterator[tuple[str, Any]]:
    for learner in LEARNERS:
        if "own" in learner.name:
            continue  # needs its features again when it is loaded; tests/data has such files
        yield learner.name, learner.make().partial_fit(STREAM.X, STREAM.Y)
    X, y = STREAM.X.toarray(), STREAM.Y.argmax(axis=1)
    yield "one-label", LabelRanker().partial_fit(X, STREAM.singles(), "grow")
    for rows in (30, 700):  # with words contestants, and after the answers have changed
        yield f"race-words-{rows}", LabelRanker().partial_fit(*changing_words(rows), "grow")
    named = LabelRanker()
    for example, labels in zip(STREAM.named(), STREAM.sets(), strict=True):
        named.learn_one(example, labels)
    yield "named", named
    for problem, target in (
        (Multiclass(), y),
        (Multiclass(reject=0.3), y),
        (Binary(reject=0.4), y > 2),
        (Ordinal(6), y),
    ):
        yield f"predtron-{problem!r}", Predtron(problem).fit(X, target)
    ranked = Predtron(SubsetRanking(), average=True)
    ranked.partial_fit(X, y % 3, group=[5] * 6)
    yield "predtron-queries", ranked
    dates = np.array([datetime.date(2020, 1, 1 + int(grade)) for grade in y], dtype=object)
    yield "ordinal-dates", OrdinalRanker().fit(X, dates)
    yield "ordinal-entropic", OrdinalRanker(geometry="entropic").fit(X, y)
    costs = {"miss": {f"label-{i}": 1.0 + i for i in range(6)}, "false_alarm": 0.5}
    yield "m3l-costs", M3LClassifier(loss=costs).fit(X, STREAM.sets())
    yield "m3l-prior", M3LClassifier(prior=np.eye(6), kernel="poly").fit(STREAM.X, STREAM.Y)
    yield "m3l-smo", M3LClassifier(solver="smo", kernel="rbf").fit(STREAM.X, STREAM.Y)
    yield "m3l-single", M3LClassifier(class_weight="balanced").fit(X, STREAM.singles())
    yield "text", TextFeatures(buckets=None, weighting="tfidf").fit(TEXTS)
    yield "learn", _learnt_by_command()
    yield "file", _filed()
    yield "tagger-default", _tagger(None)
    yield "tagger-compact", _tagger(None).compact()
    yield "compact-words", compact_ranker(LabelRanker().partial_fit(*changing_words(30), "grow"))
    yield "compact-numbers", compact_ranker(LabelRanker().partial_fit(X, STREAM.Y))
    yield "compact-single", compact_ranker(LabelRanker(race=None).fit(X, STREAM.singles()))
    yield "tagger-shared", _tagger(SharedLabelRanker())
    yield "tagger-predtron", _tagger(Predtron(average=True))
    yield "tagger-entropic", _tagger(LabelRanker(geometry="entropic", C=3.0))


def _learnt_by_command() -> Tagger:
    """A model with the notes of an interrupted run: its measures, its sources."""
    with tempfile.TemporaryDirectory() as folder:
        source, model = Path(folder) / "items.jsonl", Path(folder) / "model.tagalong"
        lines = [{"text": TEXTS[i % 4], "labels": [f"label-{i % 3}"]} for i in range(12)]
        source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        with redirect_stdout(io.StringIO()):
            assert main(["learn", str(source), "--model", str(model), "--quiet"]) == 0
        found: Tagger = tagalong.load(model)
        return found


def _filed() -> Tagger:
    """A model with the notes of a mailbox: where its messages are, what was moved and why."""
    with tempfile.TemporaryDirectory() as folder:
        mail = Mail(Path(folder) / "Mail")
        for number in range(3):
            mail.deliver("Bank", text_about("Bank", number), "S")
            mail.deliver("Travel", text_about("Travel", number), "S")
        mail.deliver("", text_about("Bank", 9))
        file_mail(mail.root, apply=True, model=Path(folder) / "model.tagalong")
        found: Tagger = tagalong.load(Path(folder) / "model.tagalong")
        return found


def _tagger(learner: Any) -> Tagger:
    """A tagger whose certificate was restarted, and whose items had fields."""
    tagger = Tagger(learner)
    for i in range(10):
        tagger.learn({"subject": TEXTS[i % 4], "from": "a@example.org"}, [f"label-{i % 3}"])
    tagger.merge_labels(["label-0", "label-1"], into="both")
    tagger.set_min_precision("both", 0.9)
    tagger.learn({"subject": TEXTS[0], "from": "b@example.org"}, ["both", "more"])
    return tagger
