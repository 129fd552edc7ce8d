"""Tests of ``tagalong learn``: output, files, errors; equality to the bit with `Tagger`."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong.cli.arguments import PLOT_KINDS
from tagalong.evaluate import progressive
from tagalong.evaluate.plots import KINDS
from tagalong.features import TextFeatures
from tagalong.readers import read
from tests.cli.conftest import Run, items

TABLE = """\
54 items, 3 labels

first suggestion right: 81.1 % of the items
nothing can be filed without asking yet: no suggestion is sure at 90 % or more

                      all
any mistake        0.1224
one-error          0.1122
ranking loss       0.1122
coverage              1.4
average precision  0.9303
precision@5        0.2531
NDCG@5             0.9518
Hamming loss       0.1512
micro-F1           0.8345
macro-F1           0.8340
subset accuracy    0.6852

weakest labels  items   found  right if chosen  sure at 95 %  right
  money            21  85.7 %           72.0 %             0      –
  travel           21  90.5 %           79.2 %             0      –
  family           22  95.5 %           80.8 %             0      –
"""


def arrays(model: tagalong.Tagger) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model.to_parts()[1].items()}


def labelled(path: str, limit: int | None = None) -> list[tagalong.Item]:
    return [item for item in list(read(path))[:limit] if item.labels is not None]


def test_prints_the_measures_and_the_model_file(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "--race", "none", "--model", "m.tagalong")
    assert done.code == 0
    assert done.out == TABLE
    first, second = done.err.splitlines()
    assert first == "6 items without labels were ignored"
    assert second.startswith("model saved to m.tagalong (")


def test_without_model_option_nothing_is_saved(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "--race", "none", "--quiet")
    assert (done.code, done.out, done.err) == (0, TABLE, "")
    assert [path.name for path in stream.parent.iterdir()] == ["items.jsonl"]


@pytest.mark.parametrize(
    "flags, learner, features, passes",
    [
        ((), {}, {}, 1),
        (("--passes", "3"), {}, {}, 3),
        (
            ("--update", "optimal", "--geometry", "euclidean", "-C", "2", "--average", "no"),
            {"update": "optimal", "geometry": "euclidean", "C": 2.0, "average": False},
            {},
            1,
        ),
        (("--geometry", "entropic"), {"geometry": "entropic"}, {}, 1),
        (("--margin", ".1"), {"margin": 0.1}, {}, 1),
        (("--set", "dtype=float64"), {"dtype": "float64"}, {}, 1),
        (("--set", "temperature=0.2"), {"temperature": 0.2}, {}, 1),
        (
            ("--words", "1,2", "--chars", "3", "--weighting", "tfidf", "--buckets", "grow"),
            {},
            {"words": (1, 2), "chars": (3, 3), "weighting": "tfidf", "buckets": None},
            1,
        ),
        (("--no-names", "--buckets", "1000"), {}, {"names": False, "buckets": 1000}, 1),
    ],
)
def test_model_equals_the_python_tagger_to_the_bit(
    run: Run,
    stream: Path,
    flags: tuple[str, ...],
    learner: dict[str, Any],
    features: dict[str, Any],
    passes: int,
) -> None:
    assert run("learn", "items.jsonl", "--model", "m.tagalong", *flags).code == 0
    by_hand = tagalong.Tagger(tagalong.LabelRanker(**learner), TextFeatures(**features))
    for number in range(passes):
        for item in labelled("items.jsonl"):
            options: dict[str, Any] = {"judged": False} if number else {}
            by_hand.learn(item, **options)
    learnt = tagalong.load("m.tagalong")
    assert arrays(learnt) == arrays(by_hand)
    assert learnt.labels == by_hand.labels
    assert learnt.certificate_ == by_hand.certificate_
    assert learnt.suggest("the invoice") == by_hand.suggest("the invoice")


def test_the_report_equals_that_of_progressive(run: Run, stream: Path) -> None:
    flags = ("--report", "r.json", "--at", "2", "--window", "10")
    done = run("learn", "items.jsonl", "--json", *flags)
    expected = progressive(tagalong.Tagger(), labelled("items.jsonl"), k=2, window=10).to_dict()
    assert done.json["report"] == json.loads(json.dumps(expected))
    assert json.loads(Path("r.json").read_text()) == done.json["report"]
    assert done.json["unlabelled"] == 6
    assert done.json["read"] == 60


def test_limit_counts_the_items_read(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "--json", "--limit", "10")
    assert (done.json["read"], done.json["report"]["items"]) == (10, 9)
    nothing = run("learn", "items.jsonl", "--json", "--limit", "0")
    assert (nothing.code, nothing.out) == (1, "")
    assert "nothing to learn: --limit is 0" in nothing.err


def test_standard_input_and_format_options(run: Run) -> None:
    table = "what;why;tags\nthe invoice;x;money\nthe flight;y;travel,money\nflight;z;travel\n"
    flags = ("--format", "csv", "--delimiter", ";", "--text", "what,why", "--labels", "tags")
    done = run("learn", "-", "--model", "m.tagalong", "--json", *flags, stdin=table)
    assert done.code == 0
    assert done.json["report"]["items"] == 3
    words = run("inspect", "m.tagalong", "--label", "travel", "--json").json["words"][0]["words"]
    # "what" is the longest text, whose words have no field in front.
    assert {word["name"] for word in words} >= {"flight", "why:z"}


def test_an_existing_model_is_not_overwritten(run: Run, stream: Path, model: str) -> None:
    before = Path(model).read_bytes()
    done = run("learn", "items.jsonl", "--model", model)
    assert done.code == 2
    assert "--resume" in done.err
    assert "--continue" in done.err
    assert Path(model).read_bytes() == before


def test_continue_learns_further_items(run: Run, stream: Path, model: str) -> None:
    done = run("learn", "items.jsonl", "--model", model, "--continue", "--json", "--limit", "20")
    assert done.json["report"]["items"] == 18
    by_hand = tagalong.Tagger()
    for item in [*labelled("items.jsonl"), *labelled("items.jsonl", 20)]:
        by_hand.learn(item)
    assert arrays(tagalong.load(model)) == arrays(by_hand)


def test_continue_with_other_settings_is_refused(run: Run, stream: Path, model: str) -> None:
    for flags, message in (
        (("--update", "single"), "with --update smooth, not with --update single; leave --update"),
        (("--words", "1,2"), "with --words 1,1, not with --words 1,2; leave --words out"),
        (("--average", "no"), "with --average auto, not with --average no"),
        (("--buckets", "grow"), "with --buckets 1048576, not with --buckets grow"),
        (("--no-names",), "without --no-names, not with --no-names; leave --no-names out"),
        (("--set", "constant=7"), "with --set constant=None, not with --set constant=7"),
        (("--slots", "3"), "--slots: m.tagalong holds a LabelRanker, which has no such parameter"),
    ):
        done = run("learn", "items.jsonl", "--model", model, "--continue", *flags)
        assert done.code == 2
        assert message in done.err
    same = ("--update", "smooth", "--words", "1,1")
    assert run("learn", "items.jsonl", "--model", model, "--continue", *same).code == 0


def test_unreadable_item_stops_the_run_and_saves_the_model(run: Run, stream: Path) -> None:
    lines = stream.read_text().splitlines(keepends=True)
    stream.write_text("".join([*lines[:30], "{broken\n", *lines[30:]]))
    one = ("--race", "none")
    done = run("learn", "items.jsonl", *one, "--model", "m.tagalong")
    assert done.code == 1
    assert "items.jsonl:31" in done.err
    assert "30 items are learnt and saved in m.tagalong" in done.err
    assert run("learn", "--model", "m.tagalong", "--resume").code == 1
    done = run("learn", "--model", "m.tagalong", "--resume", "--on-error", "skip")
    assert done.code == 3
    assert done.out == TABLE
    assert "items.jsonl:31" in done.err
    skip = ("--on-error", "skip", "--model", "x.tagalong", "--json")
    straight = run("learn", "items.jsonl", *one, *skip)
    assert (straight.code, straight.json["skipped"]) == (3, 1)
    assert arrays(tagalong.load("m.tagalong")) == arrays(tagalong.load("x.tagalong"))


def test_refused_item_is_named_or_skipped(run: Run, stream: Path) -> None:
    with stream.open("a") as file:
        file.write(json.dumps({"text": "a", "labels": ["money"], "weight": 1e300}) + "\n")
    done = run("learn", "items.jsonl")
    assert done.code == 1
    assert "items.jsonl:61: weight must be at most" in done.err
    done = run("learn", "items.jsonl", "--on-error", "skip", "--json")
    assert (done.code, done.json["skipped"], done.json["report"]["items"]) == (3, 1, 54)
    assert "items.jsonl:61" in done.json["errors"][0]


def test_no_model_file_if_nothing_can_be_read(run: Run, stream: Path) -> None:
    assert run("learn", "nope.jsonl", "--model", "m.tagalong").code == 1
    assert run("learn", "items.jsonl", "--delimiter", ";", "--model", "m.tagalong").code == 2
    assert not Path("m.tagalong").exists()


@pytest.mark.parametrize(
    "flags, message",
    [
        ((), "give a SOURCE"),
        (("items.jsonl", "--resume"), "--resume needs --model"),
        (("items.jsonl", "--passes", "0"), "--passes must be at least 1"),
        (("items.jsonl", "--model", "no/m"), "no folder no"),
        (("items.jsonl", "--model", "."), "is a folder"),
        (("items.jsonl", "--plot", "x.gif"), ".png or .svg"),
        (("items.jsonl", "--report", "no/r.json"), "no folder no"),
        (("items.jsonl", "--update", "magic"), "invalid choice: 'magic'"),
        (("items.jsonl", "--learner", "magic"), "there is no learner 'magic'"),
        (("items.jsonl", "--set", "magic=1"), "label-ranker has no parameter 'magic'; --set takes"),
        (("items.jsonl", "--set", "magic"), "name=value"),
        (("items.jsonl", "-C", "-1"), "label-ranker: -C must be positive"),
        (("items.jsonl", "--geometry", "entropic", "--average", "yes"), "must be 'auto' or no"),
        (("items.jsonl", "--set", "C=-1"), "label-ranker: C must be positive"),
        (("items.jsonl", "--learner", "partial", "--slots", "0"), "partial: --slots must be"),
        (("items.jsonl", "--words", "0,1"), "the first number of --words must be from 1"),
        (("items.jsonl", "--words", "a"), "such as 1,2"),
        (("items.jsonl", "--buckets", "many"), "must be a number or 'grow'"),
        (("items.jsonl", "--delimiter", ";"), "jsonl has no option --delimiter"),
        (("items.jsonl", "--delimiter", ";"), "; options of jsonl: --text, --labels, "),
        (("pydocs:", "--format", "csv"), "omit the option --format"),
        (("items.jsonl", "--max-line", "x"), "--max-line must be"),
        (("items.jsonl", "--limit", "-1"), "--limit: must not be negative"),
        (("items.jsonl", "--limit", "x"), "--limit: must be a whole number, got 'x'"),
        (("items.jsonl", "--shuffle", "1.5"), "--shuffle: must be a whole number, got '1.5'"),
        (("items.jsonl", "--at", "0"), "--at: must be at least 1, got 0"),
        (("items.jsonl", "--window", "0"), "--window: must be at least 1, got 0"),
        (("items.jsonl", "--every", "0"), "--every: must be above 0"),
        (("items.jsonl", "--every", "x"), "--every: must be a number, got 'x'"),
        (("items.jsonl", "--resum"), "does not understand --resum"),
    ],
)
def test_usage_errors(run: Run, stream: Path, flags: tuple[str, ...], message: str) -> None:
    done = run("learn", *flags)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("a.jsonl", '{"title": "x"}\n', "with the option --text"),
        ("a.csv", "x,y\n1,2\n", "with the option --text or the option --features"),
        ("a.arff", "@attribute x numeric\n@data\n1\n", "with the option --xml, or give"),
    ],
)
def test_read_errors_name_flags(run: Run, name: str, contents: str, message: str) -> None:
    Path(name).write_text(contents)
    done = run("learn", name)
    assert done.code == 1
    assert message in done.err


def test_plot_file_is_written(run: Run, stream: Path) -> None:
    for kind in PLOT_KINDS:
        assert run("learn", "items.jsonl", "--plot", "run.svg", "--plot-kind", kind).code == 0
        assert Path("run.svg").read_text().lstrip().startswith("<?xml")


def test_kinds_of_plots_are_those_of_reports() -> None:
    assert tuple(KINDS) == PLOT_KINDS


def test_progress_lines_during_the_run(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.cli.live.Live.is_due", lambda self: not self._quiet)
    done = run("learn", "items.jsonl", "--passes", "2", "--limit", "5")
    lines = [line for line in done.err.splitlines() if line.startswith("pass")]
    assert len(lines) == 6  # later passes, which are not measured, learn larger batches
    assert lines[0].startswith("pass 1/2  items 1  items/s ")
    assert lines[-1].startswith("pass 2/2  items 5  items/s ")
    assert "labels 3  first right " in lines[-1]
    for part in ("mistakes ", "dual "):
        assert part not in lines[-1]


def test_progress_lines_with_the_certificate(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagalong.cli.live.Live.is_due", lambda self: not self._quiet)
    done = run("learn", "items.jsonl", "--limit", "30", "--certificate", "--window", "10")
    line = next(line for line in done.err.splitlines() if line.startswith("items 30"))
    for part in ("first right ", "last 10 ", "mistakes ", "dual "):
        assert part in line


def test_certificate_is_shown_on_request(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "--race", "none", "--certificate")
    assert done.out == TABLE + (
        "\ncertificate: 7 mistakes in 54 rounds (13.0%), loss 19.0922; no fixed weights can have "
        "complexity + C * loss below 18.0266\n"
    )
    assert run("learn", "items.jsonl", "--json").json["report"]["certificate"]["rounds"] == 54


def test_model_is_saved_at_intervals(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []
    save = tagalong.Tagger.save

    def recording(self: tagalong.Tagger, path: str, *, private: bool) -> None:
        save(self, path, private=private)
        saved.append(self.notes["learn"]["position"])

    monkeypatch.setattr("tagalong.cli.learn.saving.SECONDS_BETWEEN_SAVES", 0.0)
    monkeypatch.setattr(tagalong.Tagger, "save", recording)
    assert run("learn", "items.jsonl", "--model", "m.tagalong").code == 0
    assert len(saved) > 1
    assert saved[-1] == 60
    assert np.all(np.diff(saved) >= 0)


def test_fixed_items_match_their_description() -> None:
    assert sum("labels" not in item for item in items()) == 6
    assert sum(item.get("labels") == [] for item in items()) > 0


def test_an_item_with_two_labels_contradicts_one_label(run: Run) -> None:
    lines = ['{"text": "a", "labels": ["x"]}', '{"text": "b", "labels": ["x", "y"]}']
    Path("two.jsonl").write_text("\n".join(lines * 20))
    done = run("learn", "two.jsonl", "--one-label")
    assert (done.code, done.out) == (1, "")
    assert "two.jsonl:2: the example has 2 labels, but --one-label" in done.err
    assert "one_label" not in done.err


def test_sources_need_not_have_unicode_names(run: Run, stream: Path) -> None:
    """The model remembers its sources, whatever bytes their names have."""
    source = os.fsencode(stream.parent) + b"/caf\xe9.jsonl"
    Path(os.fsdecode(source)).write_bytes(stream.read_bytes())
    learnt = run("learn", os.fsdecode(source), "--model", "m.tagalong", "--limit", "20", "--json")
    assert learnt.code == 0, learnt.err
    reading = tagalong.load(stream.parent / "m.tagalong").notes["learn"]["reading"]
    assert os.fsdecode(source) in reading["sources"]
