"""Golden runs of races: contestants leave, and start again after the answers have changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tagalong import LabelRanker, Tagger
from tests.changing_answers import changing_items
from tests.golden.digest import Digests, Run, digest, file_digest
from tests.golden.settings import make
from tests.race_streams import LABELS, SWAPPED_AT, changing_columns, changing_words

ROWS = 700
PROBES = 20

# The values that leave the choice of the learner to the race.
RACE: dict[str, Any] = {
    "update": "smooth",
    "geometry": "adaptive",
    "C": None,
    "margin": None,
    "temperature": None,
    "average": "auto",
    "constant": None,
    "normalize": True,
    "passes": 1,
    "n_features": None,
    "race": "auto",
}


def races() -> Iterator[tuple[str, Run]]:
    columns, words = changing_columns(ROWS), changing_words(ROWS)
    yield "race/columns", matrix_run(*columns, LABELS)
    yield "race/columns-float64", matrix_run(*columns, LABELS, dtype="float64")
    yield "race/words", matrix_run(*words, "grow")
    yield "race/words-without-probability", matrix_run(*words, "grow", probability=False)
    yield "race/names", matrix_run(*words, "grow", race=["idf", "unit", "one-vs-rest-unit"])
    yield "race/tagger", tagger_run


def matrix_run(X: Any, Y: Any, classes: Any, **settings: Any) -> Run:
    def run(_: Path) -> Digests:
        ranker = make(LabelRanker, **{**RACE, **settings})
        before = ranker.partial_fit(X[:SWAPPED_AT], Y[:SWAPPED_AT], classes)
        found = {"before": before.decision_function(X[-PROBES:])}
        ranker.partial_fit(X[SWAPPED_AT:], Y[SWAPPED_AT:])
        found |= {
            "scores": ranker.decision_function(X[-PROBES:]),
            "predicted": ranker.predict(X[-PROBES:]),
            "counts": str(ranker.certificate_),
            "drift": str(ranker.drift),
        }
        return {"file": file_digest(ranker), "answers": digest(found)}

    return run


def tagger_run(_: Path) -> Digests:
    tagger = Tagger(make(LabelRanker, **RACE))
    texts = [(" ".join(words), label) for words, label in changing_items(60)]
    for text, label in texts:
        tagger.learn(text, [label])
    found = [
        [(each.label, each.score, each.probability, each.sure) for each in tagger.suggest(text)]
        for text, _ in texts[:PROBES]
    ]
    explained = tagger.explain(texts[0][0], texts[0][1])
    return {
        "file": file_digest(tagger),
        "answers": digest([found, explained.score, list(explained.parts)]),
    }
