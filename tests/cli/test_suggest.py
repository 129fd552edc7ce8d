"""Tests of ``suggest``, ``evaluate`` and ``explain``, which never change the model."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import tagalong
from tagalong.evaluate import frozen
from tagalong.features import TextFeatures
from tagalong.readers import read
from tests.cli.conftest import Run, items


@pytest.fixture(autouse=True)
def unchanged(model: str):
    before = Path(model).read_bytes()
    yield
    assert Path(model).read_bytes() == before


def test_suggestions_equal_those_of_the_tagger(run: Run, stream: Path, model: str) -> None:
    done = run("suggest", "--model", model, "items.jsonl", "-k", "2", "--min-precision", ".6")
    tagger = tagalong.load(model)
    assert done.code == 0
    assert len(done.lines) == 60
    for line, item in zip(done.lines, read("items.jsonl"), strict=True):
        found = tagger.suggest(item, k=2, min_precision=0.6)
        assert line["id"] == item.id
        assert [tuple(one.values()) for one in line["suggestions"]] == [
            (one.label, one.score, one.probability, one.chosen, one.sure, one.explores)
            for one in found
        ]


def test_only_sure_omits_other_suggestions(run: Run, stream: Path, model: str) -> None:
    flags = ("--model", model, "items.jsonl", "--min-precision", ".8")
    everything = run("suggest", *flags).lines
    sure = run("suggest", *flags, "--only-sure").lines
    assert 0 < sum(len(line["suggestions"]) for line in sure) < 180
    for all_of_it, some in zip(everything, sure, strict=True):
        assert some["suggestions"] == [one for one in all_of_it["suggestions"] if one["sure"]]


def test_a_single_text(run: Run, model: str) -> None:
    done = run("suggest", "--model", model, "--text", "the mother’s birthday", "-k", "1", "--json")
    assert done.json["id"] == ""
    assert [one["label"] for one in done.json["suggestions"]] == ["family"]


def test_text_option_names_the_key_if_there_is_a_source(
    run: Run, model: str, tmp_path: Path
) -> None:
    line = {"id": "1", "body": "the mother’s birthday"}
    (tmp_path / "other.jsonl").write_text(json.dumps(line))
    done = run("suggest", "other.jsonl", "--model", model, "--text", "body", "-k", "1")
    expected = tagalong.load(model).suggest(line["body"], k=1)
    assert done.json["suggestions"][0]["score"] == expected[0].score


def test_one_item_is_a_table_on_a_terminal(
    run: Run, stream: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("tagalong.cli.suggest.is_terminal", lambda stream: stream is sys.stdout)
    flags = ("--model", model, "items.jsonl", "-k", "2")
    one = run("suggest", *flags, "--limit", "1").out
    assert one.splitlines()[0].split() == ["label", "probability", "score"]
    best = tagalong.load(model).suggest(next(iter(read("items.jsonl"))))[0]
    numbers = [f"{best.probability:.0%}", f"{best.score:+.3f}"]
    assert one.splitlines()[1].split() == [best.label, *numbers, "chosen"]
    assert len(run("suggest", *flags, "--limit", "2").lines) == 2
    assert len(run("suggest", *flags, "--limit", "1", "--json").lines) == 1
    assert run("suggest", *flags, "--limit", "0").out == ""


def test_unreadable_item_stops_or_is_skipped(run: Run, stream: Path, model: str) -> None:
    stream.write_text('{"text": "a"}\n[]\n{"text": "b"}\n')
    done = run("suggest", "--model", model, "items.jsonl")
    assert done.code == 1
    assert "items.jsonl:2" in done.err
    done = run("suggest", "--model", model, "items.jsonl", "--on-error", "skip")
    assert (done.code, len(done.lines)) == (3, 2)
    assert "1 item was skipped" in done.err


def matrix(items: list[tagalong.Item]) -> sp.csr_array:
    features = TextFeatures()
    pairs = [features.read(item) for item in items]
    return sp.csr_array(
        (
            np.concatenate([values for _, values in pairs]),
            np.concatenate([indices for indices, _ in pairs]),
            np.cumsum([0, *(len(indices) for indices, _ in pairs)]),
        ),
        shape=(len(items), 2**20),
    )


def test_evaluate_equals_frozen(run: Run, stream: Path, model: str) -> None:
    """The reference model learns and is measured on matrices; two labels are new to both."""
    learnt = [item for item in read("items.jsonl") if item.labels is not None]
    weights = np.array([item.weight for item in learnt])
    Y = [list(item.labels or ()) for item in learnt]
    ranker = tagalong.LabelRanker().partial_fit(matrix(learnt), Y, "grow", weights)
    new = [{"text": "the roses", "labels": ["garden", "money", "pets"]}]
    new += [{"text": "the invoice cat", "labels": ["pets"]}, {"text": "the invoice", "labels": []}]
    stream.write_text("".join(json.dumps(item) + "\n" for item in [*new, *items()]))
    seen = [item for item in read("items.jsonl") if item.labels is not None]
    expected = frozen(
        ranker, matrix(seen), [list(item.labels or ()) for item in seen], k=2, window=10
    )
    flags = ("--at", "2", "--window", "10", "--report", "r.json", "--json")
    done = run("evaluate", "items.jsonl", "--model", model, *flags)
    assert done.code == 0
    report = json.loads(Path("r.json").read_text())
    for part in ("items", "overall", "recent", "labels"):
        assert report[part] == json.loads(json.dumps(expected.to_dict()[part]))
    assert done.json["report"] == report
    assert (done.json["unlabelled"], done.json["unknown_labels"]) == (6, ["garden", "pets"])
    assert "2 labels are unknown to the model" in done.err


def test_evaluate_prints_a_table(run: Run, stream: Path, model: str) -> None:
    done = run("evaluate", "--model", model, "items.jsonl", "--limit", "30")
    assert done.out.startswith("27 items, 3 labels\n")
    assert "average precision  1.0000\n" in done.out  # no second column: all items are recent


def test_evaluate_writes_plots_and_the_certificate(run: Run, stream: Path, model: str) -> None:
    done = run("evaluate", "-m", model, "items.jsonl", "--plot", "e.svg", "--plot-kind", "labels")
    assert done.code == 0
    assert Path("e.svg").read_text().lstrip().startswith("<?xml")
    assert "certificate" not in done.out
    certified = run("evaluate", "-m", model, "items.jsonl", "--certificate")
    mistakes = tagalong.load(model).certificate_.mistakes
    assert certified.out.startswith(done.out)
    last = certified.out.splitlines()[-1]
    assert last.startswith("certificate of the items that the model learnt: ")
    assert f": {mistakes} mistakes in 54 rounds" in last
    assert run("evaluate", "-m", model, "items.jsonl", "--plot", "e.gif").code == 2


@pytest.mark.parametrize(
    "contents, flags, message",
    [
        ("", (), "items.jsonl: nothing to measure: there are no items"),
        ('{"text": "a"}\n', (), "the only item has no labels; name the column or key"),
        ("{}]\n", ("--on-error", "skip"), "nothing to measure: all 1 items were skipped"),
    ],
)
def test_evaluate_without_items_is_an_error(
    run: Run, stream: Path, model: str, contents: str, flags: tuple[str, ...], message: str
) -> None:
    stream.write_text(contents)
    done = run("evaluate", "-m", model, "items.jsonl", "--report", "r.json", *flags)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert not Path("r.json").exists()


def test_explain(run: Run, stream: Path, model: str) -> None:
    done = run("explain", "--model", model, "items.jsonl", "--id", "item-3")
    explained = tagalong.load(model).explain(list(read("items.jsonl"))[3], "money")
    first, *parts = done.out.splitlines()
    assert first == f"money: {explained.score:+.3f}"
    found = {part.split(maxsplit=1)[1]: part.split()[0] for part in parts}
    assert found.pop("(without any word)")
    assert found == {name: f"{adds:+.3f}" for name, adds in explained.parts}
    assert {part.split()[1] for part in parts[:2]} == {"account", "payment"}
    other = run(
        "explain", "-m", model, "items.jsonl", "--id", "item-3", "--label", "travel", "--json"
    )
    expected = tagalong.load(model).explain(list(read("items.jsonl"))[3], "travel")
    assert other.json["score"] == expected.score
    assert [(part["name"], part["adds"]) for part in other.json["parts"]] == list(expected.parts)
    assert run("explain", "-m", model, "items.jsonl", "--json").json["id"] == "item-0"
    assert run("explain", "-m", model, "--text", "a birthday").out.startswith("family: ")


@pytest.mark.parametrize(
    "argv, code, message",
    [
        (("suggest", "-m", "m.tagalong"), 2, "give a SOURCE or --text"),
        (
            ("suggest", "items.jsonl"),
            2,
            "one of the arguments --model/-m --workspace --server is required",
        ),
        (
            ("suggest", "-m", "m.tagalong", "--text", "a", "--min-precision", "2"),
            2,
            "at most 1, got 2",
        ),
        (("suggest", "-m", "nope", "items.jsonl"), 1, "model file nope does not exist"),
        (("suggest", "-m", "items.jsonl", "items.jsonl"), 1, "items.jsonl: not a Tagalong model\n"),
        (("suggest", "-m", "m.tagalong", "nope"), 1, "nope: no such file"),
        (("evaluate", "-m", "m.tagalong", "nope:"), 1, "streams are pydocs:"),
        (("explain", "-m", "m.tagalong"), 2, "give a SOURCE or --text"),
        (("explain", "-m", "m.tagalong", "--text", "a", "--id", "b"), 2, "--id selects an item"),
        (
            ("explain", "-m", "m.tagalong", "items.jsonl", "--id", "b"),
            1,
            "items.jsonl: there is no item with the id 'b'",
        ),
        (
            ("explain", "-m", "m.tagalong", "--text", "a", "--label", "familly"),
            1,
            "no label 'familly'; did you mean 'family'?",
        ),
    ],
)
def test_errors(run: Run, stream: Path, argv: tuple[str, ...], code: int, message: str) -> None:
    done = run(*argv)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_model_without_text_features_is_refused(run: Run, tmp_path: Path, model: str) -> None:
    tagalong.LabelRanker().learn_one({"a": 1.0}, ["x"]).save(tmp_path / "ranker.tagalong")
    done = run("suggest", "-m", "ranker.tagalong", "--text", "a")
    assert done.code == 1
    assert "holds a LabelRanker" in done.err
