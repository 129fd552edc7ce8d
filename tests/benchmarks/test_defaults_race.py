"""The comparison of the default learner with one learner alone and with Vowpal Wabbit."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import defaults, defaults_race, streams, vw_modes
from benchmarks.defaults_race import Line, verdicts
from benchmarks.tied_measures import Ranking, TiedRanking
from benchmarks.turns import Ratio
from benchmarks.vw_modes import VwResult


def ranking(precision: float, loss: float = 0.1) -> TiedRanking:
    strict = Ranking(precision - 0.05, 0.5, loss)
    return TiedRanking(strict, Ranking(precision, 0.4, loss))


def line(name: str, race: float, vw: float, *, today: float = 0.6, time: float = 1.0) -> Line:
    modes = [
        VwResult("good", ranking(vw, 0.2), tuned=True),
        VwResult("bad", ranking(vw - 0.1, 0.15)),
    ]
    return Line(name, 6000, ranking(today), ranking(race), Ratio([time]), modes)


def test_the_best_mode_is_chosen_for_each_measure_with_the_kinder_ties() -> None:
    one = line("a", 0.7, 0.65)
    assert one.best_vw("average_precision").mode == "good"
    assert one.best_vw("ranking_loss").mode == "bad"
    assert one.beats_vw("average_precision")
    assert not line("a", 0.65, 0.65).beats_vw("average_precision")


def test_modes_with_a_chosen_rate_can_be_left_out() -> None:
    one = line("a", 0.6, 0.65)
    assert one.best_vw("average_precision", tuned=False).mode == "bad"
    assert one.beats_vw("average_precision", tuned=False)
    assert not one.beats_vw("average_precision")
    assert "VW at its own rates 0.5500" in defaults_race.means([one])
    assert "VW, all modes 0.6500" in defaults_race.means([one])
    assert len(defaults_race.cells(one)) == len(defaults_race.headers(with_vw=True))


def test_modes_at_the_rates_of_vowpal_wabbit() -> None:
    without_tuning = [mode.strip() for mode in vw_modes.MODES if not vw_modes.is_tuned(mode)]
    assert set(without_tuning) == vw_modes.WITHOUT_TUNING
    assert not any("-l " in mode or "--sgd" in mode for mode in without_tuning)


def test_verdicts_compare_with_the_goals() -> None:
    good = [line("a", 0.7, 0.65), line("debtags", 0.7, 0.75, time=1.4)]
    assert all(one.reached for one in verdicts(good))
    bad = [line("a", 0.59, 0.65), line("debtags", 0.7, 0.75, time=1.6)]
    missed = [one.goal for one in verdicts(bad) if not one.reached]
    assert missed == [
        "better average precision than the best of VW, all modes on all but 1",
        "no stream more than 0.003 below today's",
        "debtags in at most 1.5 times today's time",
    ]


def test_the_tables_of_settings_are_about_one_learner() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.integers(0, 2, size=(60, 8)).astype(np.float32))
    Y = sp.csr_matrix((rng.random((60, 3)) < 0.4).astype(np.int8))
    stream = streams.Stream("made-up", X, Y, ["a", "b", "c"])
    assert defaults.measure({}, stream) == defaults.measure({"race": None}, stream)
    assert defaults.measure({}, stream) != defaults.measure({"race": "auto"}, stream)


def test_report_without_vowpal_wabbit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.integers(0, 2, size=(60, 8)).astype(np.float32))
    Y = sp.csr_matrix(X[:, :3].toarray().astype(np.int8))

    def load(name: str) -> streams.Stream:
        if name == "absent":
            raise streams.NoData("no such file")
        return streams.Stream(name, X, Y, ["a", "b", "c"])

    monkeypatch.setattr(streams, "load", load)
    defaults_race.report(["made-up", "absent"], with_vw=False)
    page = capsys.readouterr().out
    assert "absent is left out: no such file" in page
    assert "| made-up | 0." in page
    assert "no stream more than 0.003 below today's" in page
    assert "VW" not in page
