"""Tests of ``inspect``, ``labels`` and ``prune``."""

import json
from pathlib import Path

import pytest

import tagalong
from tagalong.cli.inspect_model import FILING_NOTE
from tagalong.cli.run_state import Run as LearningRun
from tagalong.cli.sources import Reading
from tagalong.evaluate import Progress
from tagalong.evaluate.json_values import for_json
from tagalong.evaluate.summary import coverage_lines, headline
from tagalong.files.lock import exclusive_lock
from tagalong.mail.filing import model_file as filing_model
from tests.cli.conftest import Run, items
from tests.evaluate.confident import confident_rounds
from tests.model_files import decoded


def test_inspect_shows_everything(run: Run, model: str) -> None:
    done = run("inspect", model, "--label", "money", "--words", "3")
    assert done.code == 0
    lines = done.out.splitlines()
    size = tagalong.load(model).size()
    assert lines[0].startswith(
        f"{model}: a Tagger in file format 6, written by tagalong {tagalong.__version__}, "
    )
    assert lines[1] == "first suggestion right: 84.9 % of the items"
    assert lines[2].startswith("nothing can be filed without asking yet")
    lines = lines[1:]
    assert lines[3] == f"54 items learnt; 3 labels; {size.features} features with weights"
    assert lines[4].startswith("memory: ")
    assert lines[5] == f"hash: {tagalong.load(model).model_hash()}"
    assert lines[6].startswith("learner: kind='LabelRanker', C=None, average='auto', ")
    assert lines[7].startswith("features: backoff=True, buckets=1048576, ")
    assert lines[8:10] == ["last run: items.jsonl; pass 1 of 1, 60 items read", ""]
    assert lines[10].startswith("in the race ")
    rest = lines[lines.index("label   items") - 1 :]
    assert rest == [
        "",
        "label   items",
        "family     22",
        "money      21",
        "travel     21",
        "",
        "money: account +2.018, payment +2.016, invoice +1.803",
    ]


def test_inspect_shows_the_race(run: Run, tmp_path: Path) -> None:
    found = [{**item, "labels": item.get("labels", [])} for item in items(60)]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in found))
    assert run("learn", "items.jsonl", "-m", "race", "--race", "unit,idf,standard").code == 0
    race = run("inspect", "race", "--json").json["race"]
    assert [(one["name"], one["running"]) for one in race] == [
        ("unit", True),
        ("standard", True),
        ("idf", False),
    ]
    lines = run("inspect", "race", "--certificate").out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("in the race"))
    assert lines[start].split("  ")[0] == "in the race"
    assert {line.split()[0] for line in lines[start + 1 : start + 3]} == {"unit", "standard"}
    assert lines[start + 3] == "left after item 20, unsuited: idf"
    assert any(line.startswith("certificate: contestant ") for line in lines)
    assert run("learn", "items.jsonl", "-m", "one", "--race", "none").code == 0
    assert "race" not in run("inspect", "one", "--json").json
    assert "in the race" not in run("inspect", "one").out


def test_inspect_shows_notes_in_words(run: Run, model: str) -> None:
    tagger = tagalong.load(model)
    tagger.notes["reading"] = {"format": "csv", "options": {"text": "a b"}, "formats": ["csv"]}
    tagger.notes[FILING_NOTE] = {"journal": {"present": {}}}
    tagger.notes["mine"] = "as it is"
    tagger.save(model)
    lines = run("inspect", model).out.splitlines()
    assert "items are read with: --format csv --text 'a b'" in lines
    assert "made by 'tagalong file' for one Maildir" in lines
    assert "note mine: as it is" in lines
    assert not any("{" in line for line in lines)
    assert run("inspect", model, "--json").json["notes"]["reading"]["format"] == "csv"
    assert FILING_NOTE == filing_model.NOTES


def test_inspect_shows_the_certificate_on_request(run: Run, model: str) -> None:
    lines = run("inspect", model, "--certificate").out.splitlines()
    assert lines[9].startswith(
        "certificate: contestant standard-cautious: 5 mistakes in 54 rounds (9.3%)"
    )
    assert "certificate" not in run("inspect", model).out


def test_inspect_shows_what_could_be_filed_first(run: Run, model: str, tmp_path: Path) -> None:
    """The measures of the last run, here made up, as a learner with confidence leaves them."""
    tagger = tagalong.load(model)
    progress = Progress(5, 100)
    progress.add_rounds(confident_rounds(1, 400, labels=3))
    learnt = LearningRun(Reading(["items.jsonl"], None, {}, None, "stop"), 1, progress)
    learnt.save_to_notes(tagger)
    tagger.save(model)
    done = run("inspect", model)
    report = progress.report()
    expected = [*headline(report), "", *coverage_lines(report), ""]
    lines = done.out.splitlines()
    assert lines[0].startswith(model)
    assert lines[1 : 1 + len(expected)] == expected
    assert "can be filed without asking" in done.out.splitlines()[2]
    found = run("inspect", model, "--json").json
    assert found["order"] == "mixed"
    assert found["coverage"] == for_json(report.coverage.to_dict())


def test_inspect_a_model_without_a_run_shows_its_own_estimate(run: Run, tmp_path: Path) -> None:
    tagger = tagalong.Tagger()
    for item in [item for item in items(600) if item.get("labels")]:
        tagger.learn(item["text"], item["labels"][:1])
    tagger.save(tmp_path / "p.tagalong")
    low, middle, high = tagger.coverage()
    assert middle.share > 0.5
    done = run("inspect", "p.tagalong")
    assert done.out.splitlines()[1] == (
        f"of recent items, at 95 % right, {100 * middle.share:.0f} % can be filed without asking "
        f"(90 %: {100 * low.share:.0f} %, 99 %: {100 * high.share:.0f} %)"
    )
    found = run("inspect", "p.tagalong", "--json").json["recent_coverage"]
    assert [one["share"] for one in found] == [low.share, middle.share, high.share]
    tagalong.Tagger().save(tmp_path / "new.tagalong")
    assert run("inspect", "new.tagalong").out.startswith("new.tagalong: a Tagger")


def test_inspect_a_model_whose_run_is_damaged(run: Run, model: str) -> None:
    tagger = tagalong.load(model)
    tagger.notes["learn"]["progress"]["arrays"]["totals"]["data"] = "AAAA"
    tagger.save(model)
    assert "first suggestion right" not in run("inspect", model).out


def test_inspect_in_json(run: Run, model: str) -> None:
    tagger = tagalong.load(model)
    tagger.notes["owner"] = "käthe"
    tagger.save(model)
    found = run("inspect", model, "--json", "--words", "2").json
    assert found["kind"] == "Tagger"
    assert found["file_bytes"] == Path(model).stat().st_size
    assert found["hash"] == tagger.model_hash()
    assert found["size"]["total_bytes"] == tagger.size().total_bytes
    assert found["certificate"]["dual"] == tagger.certificate_.dual
    assert found["notes"] == {"owner": "käthe"}
    assert found["run"]["sources"] == ["items.jsonl"]
    assert [one["label"] for one in found["words"]] == tagger.labels
    for one in found["words"]:
        # The score of a single word is proportional to its weight.
        weights = [word["weight"] for word in one["words"]]
        assert weights == sorted(weights, reverse=True)
        assert len(weights) == 2
        assert tagger.suggest(one["words"][0]["name"], k=1)[0].label == one["label"]


def test_inspect_a_model_without_words(run: Run, stream: Path) -> None:
    assert run("learn", "items.jsonl", "--model", "n.tagalong", "--no-names").code == 0
    done = run("inspect", "n.tagalong", "--label", "money")
    assert done.out.endswith("money: the model stores no words\n")
    assert b"invoice" not in decoded(Path("n.tagalong"))


def test_inspect_many_labels(run: Run, tmp_path: Path) -> None:
    tagger = tagalong.Tagger()
    for number in range(30):
        tagger.learn(f"word{number}", [number])
    tagger.save(tmp_path / "many.tagalong")
    done = run("inspect", "many.tagalong", "--label", "7")
    assert "and 10 more; --json shows all" in done.out
    assert "\n7: word7 +" in done.out


def test_inspect_a_ranker(run: Run, tmp_path: Path) -> None:
    ranker = tagalong.LabelRanker().learn_one({"a": 1.0}, ["x"])
    ranker.save(tmp_path / "ranker.tagalong")
    found = run("inspect", "ranker.tagalong", "--json").json
    assert found["hash"] == tagalong.model_hash(ranker)
    assert (found["kind"], found["labels"]) == ("LabelRanker", [{"label": "x"}])
    assert run("inspect", "ranker.tagalong").out.endswith("label  items\nx\n")
    assert run("inspect", "ranker.tagalong", "--words", "3").code == 2


def test_rename_merge_and_forget_labels(run: Run, model: str) -> None:
    by_hand = tagalong.load(model)
    done = run("labels", "rename", model, "money", "cash")
    assert (done.code, done.out) == (0, "renamed money to cash\n")
    assert "--resume no longer works" in done.err
    by_hand.rename_label("money", "cash")
    assert run("labels", "merge", model, "cash", "travel", "--into", "paper").code == 0
    by_hand.merge_labels(["cash", "travel"], "paper")
    loaded = tagalong.load(model)
    assert loaded.labels == by_hand.labels == ["paper", "family"]
    assert loaded.suggest("the flight") == by_hand.suggest("the flight")
    assert loaded.certificate_ == by_hand.certificate_
    done = run("labels", "forget", model, "paper", "--json")
    assert done.json == {
        "model": model,
        "done": "removed paper",
        "labels": ["family"],
        "run_ended": False,
    }


def test_own_targets_of_labels(run: Run, model: str, stream: Path) -> None:
    done = run("labels", "set", model, "money", "travel", "--min-precision", ".01")
    assert (done.code, done.out) == (0, "money, travel: sure at 0.01\n")
    assert run("labels", "set", model, "family", "--never", "--json").json["done"] == (
        "family: never sure"
    )
    assert tagalong.load(model).min_precision == {"money": 0.01, "travel": 0.01, "family": "never"}
    lines = run("suggest", "-m", model, "items.jsonl", "--min-precision", ".5").lines
    for one in (one for line in lines for one in line["suggestions"]):
        if one["label"] == "family":
            assert not one["sure"]
    assert run("labels", "set", model, "travel", "--default").code == 0
    assert tagalong.load(model).min_precision == {"money": 0.01, "family": "never"}
    # Targets change nothing that a run depends on.
    assert run("learn", "--model", model, "--resume").code == 0


def test_list_of_labels(run: Run, model: str) -> None:
    run("labels", "set", model, "family", "--never")
    run("labels", "set", model, "money", "--min-precision", "0.99")
    done = run("labels", "list", model)
    assert [line.split() for line in done.out.splitlines()] == [
        ["label", "items", "last", "sure", "at"],
        ["family", "22", "2", "ago", "never"],
        ["money", "21", "1", "ago", "0.99"],
        ["travel", "21", "latest"],
    ]
    found = run("labels", "list", model, "--json", "--sort", "name").json
    assert found["items"] == 54
    assert [one["label"] for one in found["labels"]] == ["family", "money", "travel"]
    assert found["labels"][2] == {
        "label": "travel",
        "items": 21,
        "age": 0,
        "min_precision": None,
    }
    by_age = run("labels", "list", model, "--json", "--sort", "last").json["labels"]
    assert [one["age"] for one in by_age] == [2, 1, 0]


def test_list_of_many_labels(run: Run, tmp_path: Path) -> None:
    tagger = tagalong.Tagger().add_labels(["unused", "日本語"])
    for number in range(1200):
        tagger.learn("word", [number])
    tagger.save(tmp_path / "many.tagalong")
    done = run("labels", "list", "many.tagalong")
    assert len(done.out.splitlines()) == 1203
    assert run("labels", "list", "many.tagalong", "--sort", "last").out.splitlines()[1].split() == [
        "unused",
        "0",
        "never",
    ]


def test_a_locked_model_is_not_changed(run: Run, model: str) -> None:
    before = Path(model).read_bytes()
    with exclusive_lock(model, command="the other run"):
        for argv in (
            ("labels", "set", model, "money", "--never"),
            ("labels", "forget", model, "money"),
            ("prune", model, "--features", "1"),
        ):
            done = run(*argv, "--wait", "0.1")
            assert done.code == 1
            assert "the other run" in done.err
        assert run("labels", "list", model).code == 0
    assert Path(model).read_bytes() == before
    assert run("labels", "set", "nope", "money", "--never").code == 1
    assert not Path("nope.lock").exists()


@pytest.mark.parametrize(
    "argv, code, message",
    [
        (("set", "m.tagalong", "mony", "--never"), 1, "no label 'mony'; did you mean 'money'?"),
        (("set", "m.tagalong", "money", "mony", "--never"), 1, "no label 'mony'"),
        (("set", "m.tagalong", "money"), 2, "--min-precision --never --default is required"),
        (("set", "m.tagalong", "money", "--never", "--default"), 2, "not allowed with"),
        (("set", "m.tagalong", "money", "--min-precision", "95"), 2, "at most 1, got 95"),
        (("rename", "m.tagalong", "mony", "x"), 1, "no label 'mony'; did you mean 'money'?"),
        (
            ("rename", "m.tagalong", "money", "travel"),
            1,
            "already has a label 'travel'; 'tagalong labels merge'",
        ),
        (("merge", "m.tagalong", "money", "--into", "x"), 1, "at least two labels"),
        (("forget", "m.tagalong", "nothing like it"), 1, "has no label 'nothing like it'"),
        (("forget", "m.tagalong"), 2, "required: LABEL"),
        ((), 2, "required: ACTION"),
    ],
)
def test_failed_change_leaves_the_file_unchanged(
    run: Run, model: str, argv: tuple[str, ...], code: int, message: str
) -> None:
    before = Path(model).read_bytes()
    done = run("labels", *argv)
    assert done.code == code
    assert message in done.err
    assert Path(model).read_bytes() == before


def test_prune(run: Run, model: str) -> None:
    by_hand = tagalong.load(model)
    by_hand.prune(5)
    done = run("prune", model, "--features", "5", "--json")
    assert done.json["after"]["features"] == by_hand.size().features
    assert done.json["after"]["file_bytes"] < done.json["before"]["file_bytes"]
    assert done.json["run_ended"]
    assert tagalong.load(model).suggest("the invoice") == by_hand.suggest("the invoice")
    before = Path(model).read_bytes()
    again = run("prune", model, "--features", "100")
    assert again.code == 0
    assert again.out.startswith("features with weights: 6 before, 6 now")
    assert Path(model).read_bytes() == before


@pytest.mark.parametrize("kind", ["certificate", "mistakes"])
def test_evaluate_has_no_certificate_to_plot(run: Run, stream: Path, kind: str) -> None:
    run("learn", "items.jsonl", "--model", "m.tagalong", "-q")
    argv = ("evaluate", "items.jsonl", "--model", "m.tagalong", "--plot", "p.png")
    refused = run(*argv, "--plot-kind", kind)
    assert refused.code == 2
    assert f"--plot-kind {kind}: evaluate learns nothing" in refused.err
    assert not Path("p.png").exists()
