"""Tests of Predtron on the command line and in a Tagger, for labels and for queries."""

import json
from pathlib import Path

import numpy as np
import pytest

import tagalong
from tagalong import Item, Predtron, Tagger
from tagalong.evaluate import Progress, QueryProgress
from tagalong.learning.certificates import LossCertificate
from tagalong.learning.rounds import QueryRound
from tagalong.problems import LabelRanking, Multiclass
from tagalong.readers import read
from tagalong.readers.queries import Query, grades_of, queries
from tests.cli.conftest import Run
from tests.cli.test_shared import stream
from tests.contract.bits import native_of


@pytest.mark.parametrize("problem", ["label-ranking", "multilabel", "multiclass"])
def test_learn_suggest_explain_inspect(run: Run, tmp_path: Path, problem: str) -> None:
    source = stream(tmp_path / "items.jsonl")
    learnt = run(
        *("learn", source, "--model", "m.tagalong", "--learner", "predtron"),
        *("--problem", problem, "--set", "step=1", "--json"),
    )
    assert learnt.code == 0
    assert learnt.json["report"]["recent"]["one_error"] < 0.2
    assert "mistakes" in learnt.json["report"]["certificate"]
    found = run("suggest", "--model", "m.tagalong", "--text", "a birthday", "--json")
    assert json.loads(found.out)["suggestions"][0]["label"] == "family"
    explained = run("explain", "--model", "m.tagalong", "--text", "a birthday")
    assert "birthday" in explained.out
    assert run("inspect", "m.tagalong", "--json").json["learner"]["problem"] == problem


def test_command_line_and_library_give_the_same_bits(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    run("learn", source, "--model", "m.tagalong", "--learner", "predtron", "--set", "norm=group")
    tagger = Tagger(Predtron(norm="group"))
    with read(source) as items:
        for item in items:
            tagger.learn(item)
    ours = native_of(tagalong.load("m.tagalong").learner).state()["arrays"]
    for name, array in native_of(tagger.learner).state()["arrays"].items():
        assert ours[name].tobytes() == array.tobytes(), name


def test_problem_option_is_refused_for_other_learners(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    refused = run("learn", source, "--problem", "multiclass")
    assert refused.code == 2
    assert "label-ranker has no --problem" in refused.err


def test_multiclass_item_with_two_labels_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text('{"text": "a", "labels": ["x"]}\n{"text": "b", "labels": ["x", "y"]}\n')
    arguments = ("--learner", "predtron", "--problem", "multiclass")
    refused = run("learn", str(path), *arguments)
    assert refused.code == 1
    assert "two.jsonl:2: this problem has one class per row, not 2" in refused.err


def graded(path: Path, count: int = 30) -> str:
    rng = np.random.default_rng(0)
    w = rng.normal(size=5)
    lines = []
    for query in range(count):
        for _ in range(int(rng.integers(2, 9))):
            x = rng.normal(size=5).round(3)
            grade = int(np.digitize(x @ w, [0.0, 1.0, 2.0]))
            features = " ".join(f"{i + 1}:{value}" for i, value in enumerate(x))
            lines.append(f"{grade} qid:{query} {features}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


QUERIES = ("--learner", "predtron", "--problem", "subset-ranking", "--at", "3")


def test_ndcg_of_queries(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "q.svm")
    learnt = run("learn", source, *QUERIES, "--model", "q.tagalong", "--json")
    assert learnt.code == 0
    report = learnt.json["report"]
    assert report["items"] == learnt.json["read"] == 30
    tagger, progress = Tagger(Predtron("subset-ranking")), QueryProgress(3)
    with read(source) as items:
        for query in queries(items):
            progress.add(tagger.watch_query(query))
    assert report["overall"]["ndcg_at_k"] == progress.report().overall.ndcg_at_k > 0.6
    assert report["recent"]["ndcg_at_k"] == progress.report().recent.ndcg_at_k
    text = run("learn", source, *QUERIES).out
    assert "30 queries" in text
    assert "NDCG@3" in text


def test_suggest_orders_documents_and_evaluate_measures_them(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "q.svm")
    run("learn", source, *QUERIES, "--model", "q.tagalong", "--set", "step=1")
    tagger = tagalong.load("q.tagalong")
    before = tagger.model_hash()
    found = run("suggest", source, "--model", "q.tagalong")
    lines = [json.loads(line) for line in found.out.splitlines()]
    progress = QueryProgress(3)
    with read(source) as items:
        for query, line in zip(queries(items), lines, strict=True):
            scores = tagger.score_query(query)
            assert line["query"] == query.id
            best = np.argsort(-scores, kind="stable")
            assert [each["document"] - 1 for each in line["documents"]] == best.tolist()
            assert [each["score"] for each in line["documents"]] == scores[best].tolist()
            progress.add(QueryRound(scores, np.array(grades_of(query))))
    measured = run("evaluate", source, "--model", "q.tagalong", "--at", "3", "--json")
    assert measured.code == 0
    ndcg = measured.json["report"]["overall"]["ndcg_at_k"]
    assert ndcg == progress.report().overall.ndcg_at_k > 0.8
    assert "NDCG@3" in run("evaluate", source, "--model", "q.tagalong", "--at", "3").out
    assert tagalong.load("q.tagalong").model_hash() == before
    refused = run("suggest", "--text", "a", "--model", "q.tagalong")
    assert refused.code == 2
    assert "ranks the documents of queries" in refused.err


def test_run_over_queries_resumes_to_the_same_bits(run: Run, tmp_path: Path) -> None:
    source = graded(tmp_path / "q.svm")
    run("learn", source, *QUERIES, "--passes", "2", "--model", "whole.tagalong")
    run("learn", source, *QUERIES, "--limit", "11", "--model", "part.tagalong")
    resume = ("--model", "part.tagalong", "--resume", "--limit", "30", "--passes", "2")
    assert run("learn", *resume, "--json").code == 0
    whole, part = tagalong.load("whole.tagalong"), tagalong.load("part.tagalong")
    first, second = native_of(whole.learner).state(), native_of(part.learner).state()
    assert first["numbers"] == second["numbers"]
    for name, array in first["arrays"].items():
        assert second["arrays"][name].tobytes() == array.tobytes(), name


def test_documents_without_query_or_grade_are_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.svm"
    path.write_text("1 qid:1 1:2\n0 1:1\n")
    refused = run("learn", str(path), *QUERIES)
    assert refused.code == 1
    assert "bad.svm:2: the document has no query" in refused.err
    path.write_text("1 qid:1 1:2\n0 qid:1 1:1\ngood qid:2 1:1\n")
    refused = run("learn", str(path), *QUERIES)
    assert refused.code == 1
    assert (
        "bad.svm:3: a document must have one label, its grade as a number, not good" in refused.err
    )


def test_watch_query_needs_a_learner_of_queries() -> None:
    query = Query("1", (Item("", "", {"1": 1.0}, ("1",), query="1"),))
    with pytest.raises(ValueError, match="does not rank documents"):
        Tagger().watch_query(query)
    found = Tagger(Predtron("subset-ranking")).watch_query(query)
    assert isinstance(found, QueryRound)


def test_rename_merge_and_forget_labels() -> None:
    for learner in (Predtron(step=1.0), Predtron(norm="l1", step=1.0)):
        tagger = Tagger(learner).add_labels(["money", "travel", "family"])
        for text, label in (("invoice", "money"), ("flight", "travel"), ("mother", "family")) * 4:
            tagger.learn(text, [label])
        tagger.merge_labels(["money", "travel"], "work").rename_label("family", "home")
        assert tagger.suggest("invoice")[0].label == "work"
        assert tagger.suggest("flight")[0].label == "work"
        assert tagger.suggest("mother")[0].label == "home"
        tagger.forget_label("home")
        assert tagger.labels == ["work"]
        assert isinstance(tagger.certificate_, LossCertificate)
        assert tagger.certificate_.restarted
        tagger.learn("mother", ["home"])
        assert tagger.suggest("mother")[0].label == "home"
    fixed = Tagger(Predtron(kernel="rbf")).add_labels(["a", "b"]).learn("x", ["b"])
    with pytest.raises(ValueError, match="can only be changed by learning"):
        fixed.forget_label("a")


def test_feedback_on_some_labels() -> None:
    tagger = Tagger(Predtron(Multiclass(), step=1.0)).add_labels(["a", "b", "c"])
    tagger.feedback("word", shown=["a", "c"], accepted=["c"])
    assert tagger.suggest("word")[0].label == "c"
    ranking = Tagger(Predtron(LabelRanking(), step=1.0)).add_labels(["a", "b", "c"])
    ranking.feedback("word", shown=["a", "c"], accepted=["c"])
    scores = {each.label: each.score for each in ranking.suggest("word")}
    assert scores["c"] > scores["b"] == 0.0 > scores["a"]


def test_compare(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    compared = run("compare", source, "--learners", "predtron,label-ranker", "--json")
    assert compared.code == 0
    assert [row["name"] for row in compared.json["learners"]] == ["predtron", "label-ranker"]
    first = compared.json["learners"][0]
    tagger, progress = Tagger(Predtron()), Progress()
    with read(source) as items:
        for item in items:
            progress.add(tagger.watch(item))
    assert first["overall"]["ndcg_at_k"] == progress.report().overall.ndcg_at_k
    assert first["dual"] is None
