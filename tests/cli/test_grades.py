"""Grades on the command line: the learner ordinal, Predtron's ordinal problem, what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import tagalong
from tagalong import GradeRanker, Predtron, Tagger
from tagalong.problems import Ordinal
from tagalong.readers import read
from tests.cli.conftest import Run

ORDINAL = ("--learner", "ordinal", "--grades", "low,mid,high")
PREDTRON = ("--learner", "predtron", "--problem", "ordinal", "--grades", "low,mid,high")
WORDS = {"low": "broken late rude", "mid": "late plain fine", "high": "lovely quick fine"}


def graded(path: Path, count: int = 90) -> str:
    """Write texts whose words tell their grade."""
    rng = np.random.default_rng(0)
    lines = ["text,label"]
    for grade in rng.choice(list(WORDS), count):
        words = rng.choice(WORDS[grade].split(), 2, replace=False)
        lines.append(f"{' '.join(['the', *words])},{grade}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("learner", [ORDINAL, PREDTRON], ids=["ordinal", "predtron"])
def test_learn_suggest_evaluate_explain_inspect(
    run: Run, tmp_path: Path, learner: tuple[str, ...]
) -> None:
    source = graded(tmp_path / "grades.csv")
    learnt = run("learn", source, "--labels", "label", *learner, "--model", "m.tagalong", "--json")
    assert learnt.code == 0
    report = learnt.json["report"]
    assert report["grades"]
    assert report["one_label"]
    assert 0 < report["mean_absolute_error"] < 0.6
    found = run("suggest", "--model", "m.tagalong", "--text", "lovely quick", "--json")
    suggested = [each["label"] for each in json.loads(found.out)["suggestions"]]
    assert suggested[0] == "high"
    assert sorted(suggested) == ["high", "low", "mid"]
    measured = run("evaluate", source, "--labels", "label", "--model", "m.tagalong")
    assert measured.code == 0
    assert "mean absolute error" in measured.out
    assert "accuracy" in measured.out
    explained = run("explain", "--model", "m.tagalong", "--text", "broken late", "--label", "low")
    assert "broken" in explained.out
    inspected = run("inspect", "m.tagalong", "--json")
    assert [each["label"] for each in inspected.json["labels"]] == ["low", "mid", "high"]
    more = run("learn", source, "--labels", "label", "--model", "m.tagalong", "--continue")
    assert more.code == 0


def test_evaluate_has_the_error_of_the_suggestions(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "grades.csv")
    run("learn", source, "--labels", "label", *ORDINAL, "--limit", "20", "--model", "m.tagalong")
    tagger = tagalong.load("m.tagalong")
    grades = tagger.labels
    with read(source, labels="label") as items:
        errors = [
            abs(
                grades.index(tagger.suggest(item.text)[0].label)
                - grades.index((item.labels or ())[0])
            )
            for item in items
        ]
    report = run("evaluate", source, "--labels", "label", "--model", "m.tagalong", "--json")
    assert report.json["report"]["mean_absolute_error"] == pytest.approx(np.mean(errors))
    assert np.mean(errors) > 0


def test_command_line_and_library_give_the_same_bits(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "grades.csv")
    grades = ("low", "mid", "high")
    for options, learner in (
        (ORDINAL, GradeRanker(grades)),
        (PREDTRON, Predtron(Ordinal(grades))),
    ):
        run("learn", source, "--labels", "label", *options, "--model", "m.tagalong", "--force")
        tagger = Tagger(learner)
        with read(source, labels="label") as items:
            for item in items:
                tagger.learn(item)
        for text in ("broken late", "lovely", "fine"):
            loaded = tagalong.load("m.tagalong")
            assert loaded.suggest(text) == tagger.suggest(text)


def test_numbers_may_be_given_as_a_range(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "stars.csv"
    source.write_text("a,b,stars\n" + "".join(f"{i},{-i},{1 + i % 10}\n" for i in range(40)))
    learnt = run(
        *("learn", str(source), "--labels", "stars", "--features", "a,b", "--model", "m.tagalong"),
        *("--learner", "ordinal", "--grades", "1..10"),
    )
    assert learnt.code == 0
    assert tagalong.load("m.tagalong").labels == [str(i) for i in range(1, 11)]


@pytest.mark.parametrize("learner", [ORDINAL, PREDTRON], ids=["ordinal", "predtron"])
def test_labels_that_are_no_grade_are_refused_with_their_line(
    run: Run, tmp_path: Path, learner: tuple[str, ...]
) -> None:
    source = tmp_path / "grades.csv"
    source.write_text('text,label\na,low\nb,"strange"\nc,"low,high"\nd,mid\n')
    options = ("--labels", "label", "--separator", ",", *learner, "--model", "m.tagalong")
    refused = run("learn", str(source), *options)
    assert refused.code == 1
    assert f"{source}:3: label 'strange' is not one of the grades low, mid, high" in refused.err
    skipped = run("learn", str(source), *options, "--force", "--on-error", "skip", "--json")
    assert skipped.json["skipped"] == 2
    assert skipped.json["errors"][1].endswith(
        "grades.csv:4: an item has one grade, but this one has 2 labels: 'low', 'high'"
    )
    measured = run("evaluate", str(source), "--labels", "label", "--model", "m.tagalong")
    assert f"{source}:3: label 'strange' is not one of the grades low, mid, high" in measured.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--learner", "ordinal"), "the learner ordinal needs --grades: all grades"),
        (("--learner", "predtron", "--problem", "ordinal"), "--problem ordinal needs --grades"),
        (("--learner", "predtron", "--grades", "a,b"), "also needs --problem ordinal"),
        (("--grades", "a,b"), "the learner label-ranker has no --grades"),
        ((*ORDINAL, "--geometry", "entropic"), "the learner ordinal has no --geometry"),
        (("--learner", "ordinal", "--grades", "a,b,a"), "grade 'a' appears twice"),
        (("--learner", "ordinal", "--grades", "a"), "must be at least two grades"),
        (("--learner", "ordinal", "--grades", "5..1"), "from the lowest to the highest"),
        (("--learner", "ordinal", "--grades", "1..5000"), "must be at most 1,000 grades"),
        (("--learner", "ordinal", "--grades", "a..b"), "must be a whole number, got 'a'"),
        ((*ORDINAL, "--update", "smooth"), "--update"),
    ],
)
def test_wrong_options_are_named(
    run: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    refused = run("learn", graded(tmp_path / "g.csv"), "--labels", "label", *options)
    assert refused.code == 2
    assert message in refused.err


def test_other_grades_than_those_of_the_model_are_refused(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "g.csv")
    for options, flags in ((ORDINAL, ORDINAL[2:]), (PREDTRON, PREDTRON[2:])):
        learn = ("learn", source, "--labels", "label", "--model", "m.tagalong")
        run(*learn, *options, "--force")
        refused = run(*learn, "--continue", *flags[:-1], "low,high")
        assert refused.code == 2
        assert "--grades low,mid,high, not with" in refused.err
        assert run(*learn, "--continue", *flags).code == 0


def test_grades_stay_as_they_are(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "g.csv")
    run("learn", source, "--labels", "label", *ORDINAL, "--model", "m.tagalong")
    assert "grades cannot be forgotten" in run("labels", "forget", "m.tagalong", "low").err
    assert (
        "grades cannot be merged"
        in run("labels", "merge", "m.tagalong", "low", "mid", "--into", "low").err
    )
    assert run("labels", "rename", "m.tagalong", "low", "bad").code == 0
    assert tagalong.load("m.tagalong").labels == ["bad", "mid", "high"]
    assert run("prune", "m.tagalong", "--features", "3").code == 0


def test_compare_has_the_mean_absolute_error(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "g.csv")
    compare = ("compare", source, "--labels", "label", "--grades", "low,mid,high")
    found = run(*compare, "--learners", "label-ranker,ordinal,predtron", "--json").json["learners"]
    assert {row["name"] for row in found} == {"label-ranker", "ordinal", "predtron"}
    errors = [row["mean_absolute_error"] for row in found]
    assert errors == sorted(errors)
    assert errors[0] > 0
    learnt = run("learn", source, "--labels", "label", *ORDINAL, "--json").json["report"]
    (ordinal,) = (row for row in found if row["name"] == "ordinal")
    assert ordinal["mean_absolute_error"] == learnt["mean_absolute_error"]
    assert "mean absolute error" in run(*compare, "--learners", "ordinal", "--markdown").out
    refused = run("compare", source, "--labels", "label", "--grades", "low,mid")
    assert refused.code == 1
    assert "label 'high' is not one of the grades low, mid" in refused.err


def test_a_workspace_with_grades_takes_no_other_label(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "g.csv")
    learn = ("learn", source, "--labels", "label", "--workspace", "w")
    assert run(*learn, *ORDINAL).code == 0
    (tmp_path / "bad.csv").write_text("text,label\nodd,strange\n")
    refused = run("learn", str(tmp_path / "bad.csv"), "--labels", "label", "--workspace", "w")
    assert refused.code == 1
    assert "bad.csv:2" in refused.err
    assert "strange" in refused.err


def test_shell_completion_knows_the_options(run: Run) -> None:
    script = run("completion", "bash").out
    assert "--grades" in script
    assert "ordinal" in script
