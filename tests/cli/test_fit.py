"""Tests of ``tagalong fit``."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tagalong import M3LClassifier, Tagger, load
from tests.cli.conftest import Run
from tests.timeouts import TIMEOUT


def test_fit_measure_save_suggest(run: Run, stream: Path) -> None:
    fitted = run("fit", "items.jsonl", "--model", "m.tagalong", "--json")
    assert fitted.code == 0
    assert (fitted.json["items"], fitted.json["held_out"]) == (49, 5)
    assert fitted.json["unlabelled"] == 6
    assert (fitted.json["measured"], fitted.json["calibrated"]) == (3, 2)
    assert fitted.json["report"]["items"] == 3
    figures = fitted.json["fit"]
    assert 0 <= figures["duality_gap"] < 0.01 * figures["dual_objective"]
    found = run("suggest", "--model", "m.tagalong", "--text", "flight and hotel", "--json")
    best, *others = json.loads(found.out)["suggestions"]
    assert best["label"] == "travel"
    assert best["chosen"]
    assert 0 < others[-1]["probability"] < best["probability"] < 1


def test_held_out_items_calibrate_before_they_measure(run: Run, tmp_path: Path) -> None:
    words = [("invoice", "money"), ("flight", "travel"), ("dinner", "family")]
    lines = [
        json.dumps({"text": f"the {word}", "labels": [label]})
        for word, label in (words[i * 7 % 11 % 3] for i in range(400))
    ]
    (tmp_path / "many.jsonl").write_text("\n".join(lines) + "\n")
    fitted = run("fit", "many.jsonl", "--model", "m.tagalong", "--json")
    at_90 = fitted.json["report"]["coverage"]["overall"]["targets"][0]
    assert at_90["marked"] == at_90["marked_right"] == fitted.json["measured"] == 20
    shown = run("fit", "many.jsonl", "--model", "m.tagalong")
    assert "measured on 20 of 40 held-out items; probabilities calibrated on the other 20:" in (
        shown.out
    )
    unknown = run("suggest", "--model", "m.tagalong", "--text", "zebra", "--json").json
    assert unknown["known"] == 0


def test_too_few_held_out_items_are_not_calibrated(run: Run, stream: Path) -> None:
    fitted = run("fit", "items.jsonl", "--model", "m.tagalong", "--holdout", "0.02")
    assert fitted.code == 0
    assert "the probabilities are not calibrated, so nothing is marked sure" in fitted.err
    assert "measured on 1 of 1 held-out items:" in fitted.out


def test_evaluate_explain_and_inspect_a_fitted_model(run: Run, stream: Path) -> None:
    run("fit", "items.jsonl", "--model", "m.tagalong", "--holdout", "0", "-q")
    measured = run("evaluate", "items.jsonl", "--model", "m.tagalong", "--json")
    assert measured.code == 0
    assert measured.json["report"]["overall"]["average_precision"] > 0.9
    shown = run("inspect", "m.tagalong", "--label", "money")
    assert shown.code == 0
    assert "the model is within" in shown.out
    assert "invoice" in shown.out
    words = run("explain", "--model", "m.tagalong", "--text", "an invoice", "--json")
    assert words.code == 0
    assert "invoice" in words.out


def test_the_solver_of_the_paper(run: Run, stream: Path) -> None:
    fit = ("fit", "items.jsonl", "--model", "m.tagalong", "--holdout", "0", "--json")
    settings = ("--set", "solver=smo", "--set", "random_state=0", "--set", "tol=1e-4")
    for options in (
        settings,
        (*settings, "--kernel", "rbf"),
        (*settings, "--prior", "cooccurrence"),
    ):
        fitted = run(*fit, *options)
        assert fitted.code == 0
        loaded = load("m.tagalong").learner
        assert loaded.solver == "smo"
        usual = run(*fit, *options[2:]).json["fit"]
        assert load("m.tagalong").learner.solver == "auto"
        assert loaded.n_iter_ > 50  # variables or pairs; the usual solver counts passes
        assert fitted.json["fit"]["dual_objective"] == pytest.approx(
            usual["dual_objective"], rel=1e-3
        )
    refused = run(*fit, "--set", "solver=newton")
    assert refused.code == 2
    assert "solver must be one of 'auto', 'smo', got 'newton'" in refused.err


def test_saved_model_scores_like_the_learner(run: Run, stream: Path) -> None:
    run("fit", "items.jsonl", "--model", "m.tagalong", "-q", "--set", "random_state=0")
    tagger = load("m.tagalong")
    assert sorted(tagger.labels) == ["family", "money", "travel"]
    text = "the mother's dinner"
    scores, _ = tagger.learner.score_one(tagger.features.read(text))
    row = tagger.features.transform([text])
    np.testing.assert_allclose(scores, tagger.learner.decision_function(row)[0], atol=1e-6)


def test_kernel_and_prior(run: Run, stream: Path) -> None:
    for more in (["--kernel", "rbf", "--set", "gamma=1"], ["--prior", "cooccurrence"]):
        fitted = run("fit", "items.jsonl", "--model", "m.tagalong", "-q", *more)
        assert fitted.code == 0
        found = run("suggest", "--model", "m.tagalong", "--text", "birthday dinner", "--json")
        assert json.loads(found.out)["suggestions"][0]["label"] == "family"
        assert run("inspect", "m.tagalong").code == 0


def test_a_constant_feature_gives_intercepts(run: Run, stream: Path) -> None:
    assert run("fit", "items.jsonl", "--model", "m.tagalong", "-q", "--constant", "0.5").code == 0
    tagger = load("m.tagalong")
    assert isinstance(tagger, Tagger)
    model = tagger.learner
    assert isinstance(model, M3LClassifier)
    assert model.constant == 0.5
    assert np.abs(model.intercept_).min() > 0
    unknown = run("suggest", "--model", "m.tagalong", "--text", "zebra", "--json").json
    scores = {found["label"]: found["score"] for found in unknown["suggestions"]}
    expected = dict(zip(tagger.labels, model.intercept_.tolist(), strict=True))
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--learner", "svm"], "--learner: there is no batch learner 'svm'; choose one of m3l"),
        (["--set", "depth=3"], "m3l has no parameter 'depth'; --set takes C, cache_size"),
        (["-C", "-1"], "-C must be positive, got -1"),
        (["--constant", "nan"], "--constant must be a finite number, got nan"),
        (
            ["--constant", "1", "--kernel", "rbf"],
            "--constant must be 0 with --kernel rbf, got 1.0; coef0 is the constant term of ",
        ),
        (["--holdout", "1"], "--holdout must be at least 0 and below 1, got 1"),
    ],
)
def test_usage_errors(run: Run, stream: Path, more: list[str], message: str) -> None:
    refused = run("fit", "items.jsonl", "--model", "m.tagalong", *more)
    assert refused.code == 2
    assert message in refused.err
    assert not Path("m.tagalong").exists()


def test_unlabelled_items_are_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text('{"text": "hello"}\n')
    refused = run("fit", "plain.jsonl", "--model", "m.tagalong")
    assert refused.code == 1
    assert "nothing to learn: the only item has no labels" in refused.err


def test_fitted_model_does_not_learn_online(run: Run, stream: Path) -> None:
    run("fit", "items.jsonl", "--model", "m.tagalong", "-q")
    refused = run("learn", "items.jsonl", "--model", "m.tagalong", "--continue")
    assert refused.code == 1
    assert "was made by 'tagalong fit'" in refused.err
    with pytest.raises(ValueError, match="learns all items at once"):
        load("m.tagalong").learn("a text", ["money"])


SLOW = """
import signal, sys
import numpy as np
from tagalong import M3LClassifier
from tagalong.batch.m3l import training
assert callable(training._progress_printer)
training._progress_printer = lambda labels: lambda *_: signal.raise_signal(signal.SIGINT)
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(1500, 40)), rng.random((1500, 20)) < 0.5
model = M3LClassifier(kernel=sys.argv[1], tol=1e-300, max_iter=2**31 - 1, C=100, verbose=1)
try:
    model.fit(X, Y)
except KeyboardInterrupt:
    print("kept", model.duality_gap_ > 0, model.decision_function(X).shape)
"""


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_interrupted_fit_keeps_the_model_so_far(kernel: str) -> None:
    """The signal comes at the first check, which may precede the first kernel step."""
    found = subprocess.run(
        [sys.executable, "-c", SLOW, kernel], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert found.stdout == "kept True (1500, 20)\n", found.stderr
