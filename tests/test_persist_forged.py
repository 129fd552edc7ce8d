"""A file that is not a sound model is refused when it is loaded, whatever its checksum says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, ModelFileError, Tagger
from tests.model_files import forge, parts

DATA = Path(__file__).parent / "data"

Change = Callable[[dict[str, Any], dict[str, Any]], object]


def put(array: str, place: int | tuple[int, int], number: float) -> Change:
    """Return a change of one number of an array."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[array] = arrays[array].copy()
        arrays[array][place] = number

    return change


def cut(array: str) -> Change:
    """Return a change that drops the last number of an array."""
    return lambda header, arrays: arrays.update({array: arrays[array][:-1].copy()})


def repeat(array: str) -> Change:
    """Return a change that puts the first number of an array in the second place too."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[array] = arrays[array][[0, 0, *range(2, len(arrays[array]))]]

    return change


def field(path: str, value: object) -> Change:
    """Return a change of one field of the header, named by the names on the way to it."""

    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        *way, last = path.split(".")
        for name in way:
            header = header[name]
        header[last] = value

    return change


NAN, INF = float("nan"), float("inf")

CHANGES: list[tuple[str, str, Change]] = [
    # Such an S made the scale NaN, and learning ran past the end of the labels.
    ("label_ranker-format2", "S is below 1", put("S", 4, -1e300)),
    ("label_ranker-format4", "S is NaN", put("S", 0, NAN)),
    # The layout follows from the format of the file, not from the length of the array.
    ("label_ranker-format2", "cut-off of format 1", cut("cutoff")),
    ("label_ranker-format3", "solver of a later format", field("numbers.unsolved", -1)),
    ("label_ranker-format4", "bins of negative width", put("cutoff", 3, -1)),
    ("label_ranker-format4", "infinite weight", put("theta", (0, 0), INF)),
    ("label_ranker-format4", "repeated feature", repeat("features")),
    ("label_ranker-format4", "infinite certificate", field("numbers.gain", 1e999)),
    ("label_ranker-format4", "more mistakes than rounds", field("numbers.mistakes", 10**9)),
    ("label_ranker-format4", "labels without end", field("numbers.labels", 2**40)),
    ("label_ranker-format4", "budget of no parameters", field("settings.C", -1.0)),
    ("label_ranker-format4", "unknown type of weights", field("settings.dtype", "float16")),
    ("label_ranker-format4", "parameter out of range", field("params.margin", -1)),
    ("label_ranker-format4", "float as label", field("labels", [0.5, 1, 2, 3, 4])),
    ("label_ranker-format4", "null as label", field("labels", [None, 1, 2, 3, 4])),
    ("label_ranker-format4", "text for a flag", field("grows", "no")),
    ("label_ranker-format4", "names beside numbers", field("names", ["a", "b"])),
    ("label_ranker-format4", "negative number of columns", field("n_features_in", -6)),
    ("label_ranker-format4", "columns without names", field("columns", 6)),
    ("label_ranker-format4", "missing confidence", lambda h, a: a.pop("confidence")),
    ("race-format5", "no contestants", put("race", 3, 0)),
    ("race-format5", "more contestants", put("race", 3, 26)),
    ("race-format5", "a contestant of no type", put("race", 16, 99)),
    ("race-format5", "a contestant of the future", put("race", 17, 10**6)),
    ("race-format5", "NaN in the standings", put("race", -1, NAN)),
    ("race-format5", "a shorter race", cut("race")),
    ("race-format5", "statistics of fewer features", cut("largest")),
    ("race-format5", "negative spread", put("spread", 0, -1.0)),
    ("race-format5", "occurrences in more rows than there were", put("occurrences", 0, 1e6)),
    ("race-format5", "NaN mean", put("mean", 0, NAN)),
    ("race-format5", "repeated feature", repeat("features")),
    ("race-format5", "infinite weight of a contestant", put("contestant1/theta", (0, 0), INF)),
    ("race-format5", "S of one-vs-rest is below 1", put("contestant12/S", 0, 0.0)),
    ("race-format5", "columns of one-vs-rest", put("contestant12/columns", 0, 77)),
    ("race-format5", "labels of a contestant", field("numbers.contestant0/labels", 4)),
    ("race-format5", "a missing contestant", lambda h, a: a.pop("contestant3/theta")),
    ("race-format5", "an unknown contestant", field("settings.race", ["unit", "fastest"])),
    ("race-format5", "no ranker", field("settings.race", ["bayes-idf"])),
    ("race-format5", "one learner", field("settings.race", [])),
    ("race-format5", "drift of the future", put("drift", 1, 1e9)),
    ("race-format5", "bins of the cut-off", put("cutoff", 5, NAN)),
    ("race_tagger-format5", "negative count", put("learner/contestant3/counts", 0, -1.0)),
    ("race_tagger-format5", "label of a count", put("learner/contestant3/labels", 0, 6)),
    ("race_tagger-format5", "sums of counts", put("learner/contestant3/word_sums", 0, 1e6)),
    ("race_tagger-format5", "sizes", put("learner/contestant3/sizes", 0, 5)),
    ("race_tagger-format5", "a race without end", cut("learner/race")),
    ("block_projection-format4", "feature out of range", put("features", 0, 10**6)),
    ("block_projection_entropic-format4", "normaliser", put("Z", 0, 1e-9)),
    ("block_projection_entropic-format4", "dimension", field("numbers.dimension", 3)),
    ("shared_label_ranker-format4", "negative count of words", put("word_counts", (0, 0), -1)),
    ("partial_feedback-format4", "covariance", put("inverse", 0, 1e30)),
    ("partial_feedback_diagonal-format4", "covariance", put("inverses", (0, 0), -1)),
    ("partial_feedback_kernel-format4", "factor", put("factor", 0, 0)),
    ("predtron-format4", "step above the largest", field("numbers.least_step", 1e9)),
    ("predtron_l1-format4", "unit", field("numbers.unit", 1e-300)),
    ("predtron_l1-format4", "dimension of the link", field("numbers.dimension", 1e300)),
    ("ordinal_ranker-format4", "feature out of range", put("features", 0, 10**6)),
    ("m3l-format4", "NaN weight", put("weights", (0, 0), NAN)),
    ("m3l-format4", "descending features", put("features", 0, 5)),
    ("m3l_kernel-format4", "unknown kernel", field("kernel", ["tanh", 1.0, 3, 0.0])),
    ("tagger-format4", "list for parameters", field("features.params", [])),
    ("tagger-format4", "number for parameters", field("features.params", 1)),
    ("tagger-format4", "learner by names", field("learner.names", ["a"])),
    ("tagger-format4", "learner of other columns", field("learner.columns", ["a"])),
    ("tagger-format4", "columns declared", field("learner.params.n_features", "many")),
    ("tagger-format4", "another learner", field("learner.kind", "TextFeatures")),
    ("tagger-format4", "itself as learner", field("learner.kind", "Tagger")),
    ("tagger-format4", "history", lambda h, a: h["history"]["count"].__setitem__(0, -1)),
    ("tagger-format4", "last item of the future", lambda h, a: h["history"].update(items=0)),
    ("tagger-format4", "notes", field("notes", [])),
    ("tagger-format4", "repeated word", repeat("features/keys")),
    ("tagger-format4", "document frequency", put("features/items_with", 0, 1000)),
]


@pytest.mark.parametrize(
    ("name", "change"), [pytest.param(n, c, id=f"{n}: {what}") for n, what, c in CHANGES]
)
def test_forged_contents_are_refused(tmp_path: Path, name: str, change: Change) -> None:
    path = tmp_path / "model.tagalong"
    header, arrays = parts(DATA / f"{name}.tagalong")
    forge(path, header, arrays)
    tagalong.load(path)
    change(header, arrays)
    forge(path, header, arrays)
    with pytest.raises(ModelFileError, match=str(path)):
        tagalong.load(path)


def test_a_failing_constructor_is_a_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the contents of a file make the code raise, users get a ModelFileError."""

    def out_of_memory(*arguments: object) -> None:
        raise MemoryError("a table of 2**40 labels")

    path = tmp_path / "model.tagalong"
    Tagger().learn("one", ["a"]).save(path)
    monkeypatch.setattr(Tagger, "from_parts", out_of_memory)
    with pytest.raises(ModelFileError, match=r"not a usable Tagger: MemoryError.*2\*\*40 labels"):
        tagalong.load(path)


def test_invalid_parameters_are_refused_when_saving(tmp_path: Path) -> None:
    """Otherwise the file could not be loaded."""
    path = tmp_path / "model.tagalong"
    ranker = LabelRanker().fit(np.eye(3), [0, 1, 2])
    ranker.save(path)
    before = path.read_bytes()
    ranker.set_params(C=-1)
    with pytest.raises(ValueError, match="C must be positive, got -1"):
        ranker.save(path)
    assert path.read_bytes() == before


def test_parameters_may_be_changed_after_the_start(tmp_path: Path) -> None:
    path = tmp_path / "model.tagalong"
    ranker = LabelRanker(C=2.0, average=True).fit(np.eye(3), [0, 1, 2])
    scores = ranker.decision_function(np.eye(3))
    ranker.set_params(C=5.0, average=False, update="optimal").save(path)
    loaded = tagalong.load(path)
    assert loaded.get_params() == ranker.get_params()
    np.testing.assert_array_equal(loaded.decision_function(np.eye(3)), scores)


@pytest.mark.parametrize("label", [2**63, -(2**80), 10**30])
def test_large_integers_stay_integers(tmp_path: Path, label: int) -> None:
    """NumPy would store them as floats, which cannot be labels of a file."""
    ranker = LabelRanker().partial_fit(np.eye(2), [[label], [1]], classes=[label, 1])
    assert ranker.classes_.tolist() == [label, 1]
    ranker.partial_fit(np.eye(2), [[each] for each in ranker.classes_.tolist()])
    ranker.save(tmp_path / "model.tagalong")
    assert tagalong.load(tmp_path / "model.tagalong").classes_.tolist() == [label, 1]
