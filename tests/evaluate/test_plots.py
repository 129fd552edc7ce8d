"""Tests of the plots, for runs of any size and labels of any kind."""

import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tagalong.evaluate import Progress, Report, progressive
from tagalong.evaluate.label_plot import MAX_LABELS
from tagalong.evaluate.plot_parts import shortened
from tagalong.evaluate.plots import KINDS
from tagalong.learning.certificates import Certificate
from tests.evaluate.confident import confident_rounds
from tests.evaluate.streams import random_rounds, report_of

RNG = np.random.default_rng(0)
PNG, SVG = b"\x89PNG\r\n\x1a\n", b"<?xml"
ODD = ["$x_{ 5", "日本語", "word " * 30, "a\nb\x00c", "\ud800", "العربية 🚂", "%s {0}", ""]


def run(rows: int, **settings: Any) -> Report:
    X = RNG.normal(size=(rows, 9))
    Y = [[name for name, yes in zip(ODD, row, strict=False) if yes] for row in X[:, :8] > 0.4]
    return progressive(LabelRanker(**settings), (X, Y))


def report_with_labels(labels: int) -> Report:
    return report_of(random_rounds(0, 50, labels))


REPORTS = {
    "empty": lambda: Progress().report(),
    "one item": lambda: run(1),
    "two items": lambda: run(2),
    "usual": lambda: run(300, race=None),
    "race": lambda: run(300),
    "no bound": lambda: run(60, update="simopt", geometry="euclidean"),
    "tight bound": lambda: run(300, update="single", geometry="euclidean", average=False, C=0.3),
    "no certificate": lambda: report_with_labels(400),
    "one label": lambda: report_of(confident_rounds(0, 700), window=200),
    "several labels": lambda: report_of(confident_rounds(0, 700, one_label=False), window=200),
    "sorted": lambda: report_of(confident_rounds(0, 300, runs=range(20, 300))),
    "no labels": lambda: progressive(LabelRanker(), (RNG.normal(size=(20, 3)), [[]] * 20)),
}


@pytest.mark.parametrize("name", REPORTS)
def test_every_kind_of_plot_for_every_report(name: str) -> None:
    report = REPORTS[name]()
    for kind in KINDS:
        assert text_of(report, kind)


@pytest.mark.parametrize("name", ["empty", "one item", "usual", "one label"])
@pytest.mark.parametrize("kind", KINDS)
def test_png_files_without_warnings(name: str, kind: str, tmp_path: Path) -> None:
    report = REPORTS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report.plot(tmp_path / "plot.png", kind)
    assert (tmp_path / "plot.png").read_bytes().startswith(PNG)
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]


def text_of(report: Report, kind: str) -> str:
    figure = report.figure(kind)
    texts = [text.get_text() for text in figure.texts]
    for ax in figure.axes:
        texts += [ax.get_title(loc="left"), *(str(t.get_text()) for t in ax.texts)]
        legend = ax.get_legend()
        texts += [] if legend is None else [t.get_text() for t in legend.get_texts()]
    return re.sub(r"\s+", " ", " ".join(texts))


def test_mistake_bound_is_drawn_if_informative() -> None:
    report = REPORTS["tight bound"]()
    assert "certified: M is at most D/λ" in text_of(report, "mistakes")
    mistakes, bound = (
        line.get_ydata()
        for line in report.figure("certificate").axes[0].lines
        if "M" in str(line.get_label())
    )
    assert (np.asarray(mistakes) <= np.asarray(bound) * (1 + 1e-6)).all()
    assert isinstance(report.certificate, Certificate)
    gain = report.certificate.gain_per_mistake
    assert np.asarray(bound)[-1] == pytest.approx(report.certificate.dual / gain)


def test_bound_above_the_number_of_rounds_is_only_in_the_caption() -> None:
    found = text_of(REPORTS["usual"](), "mistakes")
    assert "This exceeds the number of rounds, so the line is not drawn." in found
    assert "certified: M" not in found
    assert "smoothed loss(w) + F(w)/C below D/C" in found


def test_caption_for_an_update_without_a_bound() -> None:
    found = text_of(REPORTS["no bound"](), "mistakes")
    assert "update='simopt' and these settings no mistake bound is known" in found
    assert "have loss(w) + F(w)/C below D/C" in found


def test_caption_for_a_learner_with_earlier_rounds() -> None:
    learner = LabelRanker(race=None)
    X, Y = RNG.normal(size=(40, 3)), RNG.random((40, 3)) < 0.5
    progressive(learner, (X, Y))
    found = text_of(progressive(learner, (X, Y)), "mistakes")
    assert "The certificate covers 80 rounds, but this run has 40 items." in found


def test_a_race_has_no_certified_lines() -> None:
    report = REPORTS["race"]()
    assert [len(ax.lines) for ax in report.figure("certificate").axes] == [1]
    assert "Certificate of the leading ranker: contestant " in text_of(report, "certificate")


def test_a_penalty_rules_out_the_line_of_the_bound() -> None:
    report = REPORTS["tight bound"]()
    assert isinstance(report.certificate, Certificate)
    penalised = replace(report, certificate=replace(report.certificate, penalty=1.0))
    assert "M is at most D/λ" not in text_of(penalised, "mistakes")


def test_caption_for_a_restarted_certificate() -> None:
    report = REPORTS["usual"]()
    assert isinstance(report.certificate, Certificate)
    restarted = replace(report.certificate, restarted="label 'x' was forgotten")
    found = text_of(replace(report, certificate=restarted), "mistakes")
    assert "restarted (label 'x' was forgotten); since then F is measured from" in found


def test_loss_panel_shows_the_dual_value_divided_by_c() -> None:
    report = REPORTS["usual"]()
    loss, dual = (
        np.asarray(line.get_ydata()) for line in report.figure("certificate").axes[1].lines
    )
    assert isinstance(report.certificate, Certificate)
    assert loss[-1] == pytest.approx(report.certificate.loss)
    assert dual[-1] == pytest.approx(report.certificate.dual / report.certificate.C)


def test_accuracy_plot_shows_the_curve_of_the_first_suggestion() -> None:
    report = REPORTS["one label"]()
    above, below = report.figure().axes
    overall, recent = (np.asarray(line.get_ydata()) for line in above.lines)
    assert overall[-1] == report.coverage.overall.accuracy
    assert recent[-1] == report.coverage.recent.accuracy
    ends = [np.asarray(line.get_ydata())[-1] for line in below.lines]
    assert ends == [at.share for at in report.coverage.recent.targets]
    found = text_of(report, "accuracy")
    assert f"at 95 % {100 * report.coverage.recent.at(0.95).share:.1f} %" in found
    assert above.get_ylim() == below.get_ylim() == (0.0, 1.0)


def test_accuracy_plot_of_several_labels_shows_the_labels_found() -> None:
    report = REPORTS["several labels"]()
    ends = [np.asarray(line.get_ydata())[-1] for line in report.figure().axes[1].lines]
    assert ends == [at.found for at in report.coverage.recent.targets]
    assert "Right labels marked sure" in text_of(report, "accuracy")


@pytest.mark.parametrize("kind", ["accuracy", "measures", "coverage"])
def test_plots_of_short_runs_name_the_number_of_items(kind: str) -> None:
    found = text_of(report_of(confident_rounds(0, 300)), kind)
    assert "last 300" in found
    assert "last 1,000" not in found


def test_measures_of_one_label_per_item_do_not_depend_on_the_cut_off() -> None:
    report = REPORTS["one label"]()
    (ax,) = report.figure("measures").axes
    ends = {
        str(line.get_label()).split("  ")[0]: np.asarray(line.get_ydata())[-1] for line in ax.lines
    }
    recent = report.coverage.recent
    assert ends == {
        "accuracy": recent.accuracy,
        "right among the first 3": recent.accuracy_of_3,
        "macro recall": report.answers.recent_macro_recall,
    }
    assert "subset accuracy" in text_of(REPORTS["several labels"](), "measures")


def test_coverage_plot_has_a_dot_per_target() -> None:
    report = REPORTS["one label"]()
    dots = [
        tuple(np.asarray(dot.get_offsets())[0])
        for dot in report.figure("coverage").axes[0].collections
    ]
    assert dots == [(at.share, at.precision) for at in report.coverage.recent.targets]
    line = report.figure("coverage").axes[0].lines[0]
    assert np.asarray(line.get_xdata())[-1] == 1.0
    assert np.asarray(line.get_ydata())[-1] == report.coverage.recent.accuracy


def test_calibration_plot_shows_the_errors() -> None:
    report = REPORTS["one label"]()
    found = text_of(report, "calibration")
    for part in (report.calibration.first, report.calibration.first_five):
        assert f"(error {part.error:.3f})" in found
    assert "Items from number 501 on" in found
    assert "whole set" not in found
    whole = text_of(REPORTS["several labels"](), "calibration")
    assert "whole set of labels (error " in whole


def test_captions_of_frozen_models() -> None:
    report = replace(REPORTS["one label"](), frozen=True)
    for kind in ("accuracy", "measures"):
        assert "The model did not learn from these items." in text_of(report, kind)
        assert "before it was learnt" not in text_of(report, kind)


@pytest.mark.parametrize("kind", ["accuracy", "coverage", "calibration"])
def test_plots_of_sorted_runs_say_so(kind: str) -> None:
    warning = "The items came sorted by label: do not trust these figures."
    assert warning in text_of(REPORTS["sorted"](), kind)
    assert warning not in text_of(REPORTS["one label"](), kind)


def test_label_plot_of_one_label_per_item_shows_first_suggestions() -> None:
    report = REPORTS["one label"]()
    precision, recall = report.figure("labels").axes[0].collections[1:3]
    expected = [measured.precision_first for measured in report.per_label()]
    assert np.asarray(precision.get_offsets())[:, 0].tolist() == expected
    expected = [measured.found_first for measured in report.per_label()]
    assert np.asarray(recall.get_offsets())[:, 0].tolist() == expected


def test_only_the_most_frequent_labels_are_drawn() -> None:
    report = report_with_labels(400)
    ticks = report.figure("labels").axes[0].get_yticklabels()
    assert len(ticks) == MAX_LABELS
    assert f"the {MAX_LABELS} most frequent of 400" in text_of(report, "labels")
    assert ticks[0].get_text() == str(report.per_label()[0].label)


def test_shortened_names() -> None:
    assert [shortened(name) for name in ("a\n b", "x" * 99, "\ud800", "a\x00", ("t", 1))] == [
        "a b",
        "x" * 35 + "…",
        "\\ud800",
        "a\\x00",
        "('t', 1)",
    ]


def test_svg_files(tmp_path: Path) -> None:
    report_with_labels(3).plot(str(tmp_path / "a.SVG"), "labels")
    assert (tmp_path / "a.SVG").read_bytes().startswith(SVG)


@pytest.mark.parametrize("name", ["plot.pdf", "plot", ".png"])
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path must end in \.png or \.svg, got"):
        report_with_labels(3).plot(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_failed_plot_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    path.write_text("old")
    with pytest.raises(ValueError, match="kind must be one of 'accuracy', 'coverage', "):
        report_with_labels(3).plot(path, "pie")
    with pytest.raises(FileNotFoundError):
        report_with_labels(3).plot(tmp_path / "no folder" / "plot.png")
    assert path.read_text() == "old"


def test_message_without_matplotlib(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tagalong\[plots\]'"):
        report_with_labels(3).figure()


def test_plots_do_not_import_pyplot() -> None:
    program = (
        "import sys\n"
        "from tagalong.evaluate import Progress\n"
        "report = Progress().report()\n"
        "print('matplotlib' in sys.modules)\n"
        "report.figure('labels')\n"
        "print('matplotlib.pyplot' in sys.modules)\n"
    )
    found = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert found.split() == ["False", "False"]
