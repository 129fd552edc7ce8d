"""Tests of ``compare``: each learner has the same measures as in a separate run."""

import json
import re
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import tagalong
from tagalong.cli.compare_table import Row, as_markdown, as_table
from tagalong.cli.learners import PAPERS
from tagalong.cli.output import Bold
from tagalong.evaluate import progressive
from tagalong.features import TextFeatures
from tagalong.learning.certificates import Certificate
from tagalong.readers import Item, read
from tests.cli.conftest import Run, items


@pytest.fixture
def long_stream(tmp_path: Path) -> str:
    """A stream of several chunks, with a label that appears late."""
    found = items(700)
    for item in found[500:520]:
        item["labels"] = ["garden"]
    (tmp_path / "long.jsonl").write_text("".join(json.dumps(item) + "\n" for item in found))
    return "long.jsonl"


def without_speed(found: dict[str, Any]) -> dict[str, Any]:
    for learner in found["learners"]:
        assert learner.pop("items_per_second") > 0
    return found


def labelled(path: str) -> list[Item]:
    return [item for item in read(path) if item.labels is not None]


def test_table_of_a_paper(run: Run, stream: Path) -> None:
    done = run("compare", "items.jsonl", "--paper", "p1")
    assert done.code == 0
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.out.splitlines()]
    assert rows[0] == [
        "any mistake",
        "one-error",
        "ranking loss",
        "average precision",
        "precision@5",
        "NDCG@5",
        "micro-F1",
        "dual",
        "items/s",
    ]
    measured = {row[0]: row[1:-1] for row in rows[1:]}
    assert set(measured) == {"default", *(spec.name for spec in PAPERS["p1"])}
    assert measured["III (optimal), entropic"] == [
        *["0.1020", "0.0714", "0.0918", "0.9456", "0.2531", "0.9640", "0.7838", "0.48673"]
    ]
    assert measured["I (fixed), euclidean"] == [
        *["0.1837", "0.1088", "0.1429", "0.9150", "0.2531", "0.9484", "0.7353", "-582.49"]
    ]
    quality = [float(row[4]) for row in rows[1:]]
    assert quality == sorted(quality, reverse=True)
    assert quality[0] > quality[-1]
    assert done.err.splitlines()[-2:] == [
        "54 items, 3 labels",
        "6 items without labels were ignored",
    ]


@pytest.mark.parametrize("features", [{}, {"weighting": "tfidf", "buckets": 5000}])
def test_measures_equal_those_of_separate_runs(
    run: Run, long_stream: str, features: dict[str, Any]
) -> None:
    flags = [part for name, value in features.items() for part in (f"--{name}", str(value))]
    grid = ("--updates", "single,optimal", "--geometries", "adaptive,entropic", "--C", "1,10")
    done = run("compare", long_stream, *grid, *flags, "--window", "50", "--json")
    assert done.code == 0
    assert (done.json["items"], done.json["labels"], done.json["unlabelled"]) == (632, 4, 68)
    assert len(done.json["learners"]) == 9
    assert {"name": "default", "settings": {}}.items() <= max(
        done.json["learners"], key=lambda learner: learner["name"] == "default"
    ).items()
    for learner in done.json["learners"]:
        separate = tagalong.Tagger(
            tagalong.LabelRanker(**learner["settings"]), TextFeatures(**features)
        )
        report = progressive(separate, labelled(long_stream), window=50)
        assert learner["overall"] == asdict(report.overall)
        assert learner["recent"] == asdict(report.recent)
        assert isinstance(separate.certificate_, Certificate)
        assert learner["dual"] == separate.certificate_.dual


def test_number_of_threads_does_not_matter(run: Run, long_stream: str) -> None:
    grid = ("compare", long_stream, "--learners", "single,optimal,smooth", "--json")
    one, three = (without_speed(run(*grid, "--threads", n).json) for n in ("1", "3"))
    assert one == three


@pytest.mark.parametrize("spelling", ["False", "false"])
def test_words_of_settings_are_those_of_python_or_json(
    run: Run, stream: Path, spelling: str
) -> None:
    done = run("compare", "items.jsonl", "--set", f"normalize={spelling}", "--json")
    assert done.code == 0, done.err
    settings = {one["name"]: one["settings"] for one in done.json["learners"]}
    assert settings == {"label-ranker": {"normalize": False}, "default": {}}


def test_names_and_shared_settings(run: Run, stream: Path) -> None:
    flags = (
        "--learners",
        "label-ranker,single",
        "--average",
        "no",
        "--set",
        "constant=0",
        "--json",
    )
    found = run("compare", "items.jsonl", *flags).json["learners"]
    settings = {one["name"]: one["settings"] for one in found}
    shared = {"average": False, "constant": 0}
    assert settings == {
        "label-ranker": shared,
        "single": {"update": "single", "race": None, **shared},
        "default": {},
    }
    names = [
        one["name"]
        for one in run("compare", "items.jsonl", "--C", "1,1,.5", "--json").json["learners"]
    ]
    assert sorted(names) == ["default", "label-ranker, C=0.5", "label-ranker, C=1"]
    found = run("compare", "items.jsonl", "--learners", "label-ranker,single", "--json").json
    assert sorted(one["name"] for one in found["learners"]) == ["label-ranker", "single"]


def test_a_race_beside_one_learner(run: Run, long_stream: str) -> None:
    def figures(*flags: str) -> dict[str, float]:
        found = run("compare", long_stream, *flags, "--json").json["learners"]
        return {one["name"]: one["overall"]["average_precision"] for one in found}

    by_name = figures("--learners", "label-ranker,smooth")
    assert by_name["label-ranker"] != by_name["smooth"]
    by_flag = figures("--race", "none")
    assert by_flag == {"label-ranker": by_name["smooth"], "default": by_name["label-ranker"]}
    by_geometry = figures("--geometries", "adaptive")
    assert by_geometry["label-ranker, adaptive"] == by_name["smooth"]


def test_one_label_per_item_is_sorted_by_accuracy(run: Run, tmp_path: Path) -> None:
    found = [{**item, "labels": item["labels"][:1]} for item in items(300) if item.get("labels")]
    (tmp_path / "one.jsonl").write_text("".join(json.dumps(item) + "\n" for item in found))
    flags = ("compare", "one.jsonl", "--learners", "label-ranker,single,fixed")
    learners = run(*flags, "--json").json["learners"]
    accuracy = [one["coverage"]["overall"]["accuracy"] for one in learners]
    assert accuracy == sorted(accuracy, reverse=True)
    assert accuracy[0] > accuracy[-1]
    assert all(one["one_label"] for one in learners)
    table = run(*flags).out.splitlines()
    assert re.split(r"\s{2,}", table[0].strip())[:3] == ["accuracy", "of first 3", "macro recall"]
    assert [line.split()[0] for line in table[1:]] == [one["name"] for one in learners]
    assert f"{accuracy[0]:.4f}" in table[1]
    assert "precision@5" not in table[0]


def test_learners_of_all_papers_can_be_made() -> None:
    for learners in PAPERS.values():
        assert len({one.name for one in learners}) == len(learners)
        for one in learners:
            assert one.make().get_params().items() >= one.settings.items()


def test_best_values_are_highlighted(run: Run, stream: Path) -> None:
    rows = [
        Row(
            f"C={C}",
            {},
            progressive(tagalong.Tagger(tagalong.LabelRanker(C=C)), labelled("items.jsonl")),
            10.0,
        )
        for C in (0.01, 10.0)
    ]
    assert rows[0].report.overall.ranking_loss != rows[1].report.overall.ranking_loss
    for row, line, marked in zip(rows, as_table(rows)[1:], as_markdown(rows)[2:], strict=True):
        other = rows[1] if row is rows[0] else rows[0]
        best = row.report.overall.ranking_loss < other.report.overall.ranking_loss
        shown = f"{row.report.overall.ranking_loss:.4f}"
        assert any(isinstance(cell, Bold) and cell.strip() == shown for cell in line) == best
        assert (f"**{shown}**" in marked) == best
    done = run("compare", "items.jsonl", "--markdown")
    assert done.out.startswith("|  | any mistake | one-error |")


def test_ctrl_c_prints_the_measures_so_far(
    run: Run, long_stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, seen = TextFeatures.read_texts, [0]

    def reading(self: TextFeatures, items: list[Item]) -> Any:
        seen[0] += 1
        if seen[0] == 2:
            signal.raise_signal(signal.SIGINT)
        return look(self, items)

    monkeypatch.setattr(TextFeatures, "read_texts", reading)
    done = run("compare", long_stream, "--json")
    assert done.code == 130
    assert (done.json["interrupted"], done.json["items"]) == (True, 256)


@pytest.mark.parametrize(
    "contents, message",
    [
        ("", "empty.jsonl: nothing to compare: there are no items"),
        ('{"text": "a"}\n', "nothing to compare: the only item has no labels; name the column"),
    ],
)
def test_nothing_to_compare_is_an_error(
    run: Run, tmp_path: Path, contents: str, message: str
) -> None:
    (tmp_path / "empty.jsonl").write_text(contents)
    done = run("compare", "empty.jsonl", "--learners", "single,smooth")
    assert (done.code, done.out) == (1, "")
    assert message in done.err


@pytest.mark.parametrize(
    "flags, message",
    [
        (("--learners", "magic"), "there is no learner 'magic'"),
        (("--paper", "p9"), "--paper p9: choose one of p1, p2"),
        (("--paper", "p1", "--updates", "single"), "--paper selects the learners"),
        (("--learners", "single", "--updates", "optimal"), "either --learners or --updates"),
        (("--updates", "simopt", "--geometries", "entropic"), "simopt, entropic: --updates simopt"),
        (("--C", "1,x"), "--C must be a list of numbers, got 'x'"),
        (("--C", "1,-1"), "label-ranker, C=-1: --C must be positive"),
        (("--buckets", "grow"), "--buckets grow: compare needs"),
        (("--updates", ","), "must not be empty"),
        (("--race", "unit,magic"), "--race must name contestants (unit, unit-bold, "),
        (("--race", "unit,unit"), "--race must name every contestant once"),
        (("--learners", "shared", "--race", "none"), "the learner shared has no --race"),
        (
            ("--geometries", "euclidean", "--relevance", "yes"),
            "--relevance needs --geometries adaptive, got --geometries euclidean",
        ),
    ],
)
def test_wrong_usage(run: Run, stream: Path, flags: tuple[str, ...], message: str) -> None:
    done = run("compare", "items.jsonl", *flags)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_unreadable_item_is_named(run: Run, stream: Path) -> None:
    with stream.open("a") as file:
        file.write("{}]\n")
    done = run("compare", "items.jsonl")
    assert done.code == 1
    assert "items.jsonl:61" in done.err
    assert run("compare", "items.jsonl", "--on-error", "skip").code == 3


def test_workers_compute_the_rows_of_one_process(run: Run, stream: Path) -> None:
    arguments = ("compare", "items.jsonl", "--updates", "single,optimal", "--json")
    alone = run(*arguments)
    together = run(*arguments, "--workers", "2")
    assert (alone.code, together.code) == (0, 0)
    without_speed = [
        {
            **done.json,
            "learners": [
                {name: value for name, value in row.items() if "speed" not in name}
                for row in done.json["learners"]
            ],
        }
        for done in (alone, together)
    ]
    for row in (row for done in without_speed for row in done["learners"]):
        row.pop("items_per_second", None)
    assert without_speed[0] == without_speed[1]
    assert len(without_speed[0]["learners"]) == 3


def test_workers_report_the_first_error(run: Run, stream: Path) -> None:
    with stream.open("a") as file:
        file.write("nonsense\n")
    arguments = ("compare", "items.jsonl", "--updates", "single,optimal")
    alone = run(*arguments)
    together = run(*arguments, "--workers", "1")
    assert (together.code, together.err) == (alone.code, alone.err) == (1, alone.err)
    assert "items.jsonl:61: not JSON" in together.err
    done = run(*arguments, "--workers", "1", "--threads", "2")
    assert (done.code, "--threads contradicts --workers" in done.err) == (2, True)
    done = run("compare", "-", "--workers", "1")
    assert (done.code, "workers cannot share a pipe" in done.err) == (2, True)
