"""The tables of update rules in Python, and the errors that they cause."""

import re
import subprocess
import sys
from typing import Any

import pytest

from tagalong import BlockProjection, LabelRanker, SharedLabelRanker
from tagalong import _native as core
from tagalong.cli.learners import PAPERS
from tagalong.learning.update_rules import (
    BLOCK_RULES,
    LABEL_RULES,
    PREDTRON_UPDATES,
    mistake_bound,
)
from tagalong.online.predtron.settings import UPDATES

X = [[1.0, 2.0], [2.0, 1.0]]


def native_settings(learner: Any, **changed: Any) -> dict[str, Any]:
    settings = {**learner._checked_settings(), "n_features": 2, **changed}
    del settings["dtype"]
    return settings


@pytest.mark.parametrize("rules", [LABEL_RULES, BLOCK_RULES, PREDTRON_UPDATES])
def test_the_tables_are_read_only(rules: Any) -> None:
    with pytest.raises(TypeError):
        rules["mine"] = rules[next(iter(rules))]
    for name, rule in rules.items():
        assert rule.name == name
        with pytest.raises(AttributeError):
            rule.name = "other"


def test_the_tables_import_no_slow_package() -> None:
    program = (
        "import sys, tagalong.learning.update_rules\n"
        "print([name for name in ('numpy', 'scipy', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_rules_that_move_one_pair_are_those_with_sparse_rows() -> None:
    assert [name for name, rule in LABEL_RULES.items() if rule.few_labels] == ["fixed", "single"]


def test_a_rule_without_an_entropic_step_raises_this_message() -> None:
    words = "update='simopt' does not exist for geometry='entropic'"
    more = "; use 'simproj', or the euclidean or adaptive geometry"
    with pytest.raises(ValueError, match=f"^{re.escape(words + more)}$"):
        LabelRanker(update="simopt", geometry="entropic").fit(X, ["a", "b"])
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        SharedLabelRanker(update="simopt", geometry="entropic").fit(X, ["a", "b"])
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        BlockProjection(update="simopt", geometry="entropic").learn_block(X, [1, -1])


def test_a_solver_that_a_rule_lacks_raises_this_message() -> None:
    words = "solver='interior-point' is for update='optimal' only"
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        LabelRanker(update="single", solver="interior-point").fit(X, ["a", "b"])


@pytest.mark.parametrize(
    ("kind", "learner"),
    [(core.LabelRanker32, LabelRanker(race=None)), (core.BlockLearner32, BlockProjection())],
)
def test_the_native_learners_reject_rules_outside_the_table(kind: Any, learner: Any) -> None:
    with pytest.raises(core.InputError, match=r"^update has no choice 'perceptron'$"):
        kind(**native_settings(learner, update="perceptron"))
    words = "^update='simopt' does not exist for geometry='entropic'$"
    with pytest.raises(core.InputError, match=words):
        kind(**native_settings(learner, update="simopt", geometry="entropic"))


def test_rules_with_a_mistake_bound() -> None:
    assert mistake_bound("fixed") == mistake_bound("simperc") == "step given"
    assert {mistake_bound(name) for name in ("single", "optimal", "smooth", "conproj", "max")} == {
        "step chosen"
    }
    assert mistake_bound("simproj") == mistake_bound("simopt") == "none"
    assert mistake_bound("max on sets") == "none"


def test_the_rules_of_each_paper() -> None:
    p1 = [one.name for one in PAPERS["p1"]]
    assert p1[:3] == ["I (fixed), euclidean", "II (single), euclidean", "III (optimal), euclidean"]
    assert len(p1) == 6
    p2 = [(one.learner, one.settings["update"], one.settings["geometry"]) for one in PAPERS["p2"]]
    assert len(p2) == 22
    assert ("label-ranker", "single", "entropic") in p2
    assert ("shared", "max", "entropic") in p2
    assert ("shared", "simopt", "euclidean") in p2
    assert not [one for one in p2 if one[1:] == ("simopt", "entropic")]


def test_the_rules_of_predtron() -> None:
    assert UPDATES == ("mistake", "loss")
    assert [update.by_loss for update in PREDTRON_UPDATES.values()] == [False, True]
