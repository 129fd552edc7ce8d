"""Every number, text and array of a model decides its hash, except those that have no effect."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tagalong import LabelRanker, M3LClassifier, OrdinalRanker, Tagger
from tagalong._native import PackedWeights
from tagalong.features import TextFeatures
from tagalong.learning.model_files import Arrays, pack
from tagalong.learning.model_hash import hash_of_parts
from tests.contract.learners import LearnerCase, for_learners_with
from tests.contract.training import FIRST

Parts = tuple[dict[str, Any], Arrays]


def changed_number(number: Any) -> Any:
    """Return another value of the same type, as near as possible."""
    if number is None:
        return 0
    if isinstance(number, bool):
        return not number
    if isinstance(number, float):
        return float(np.nextafter(number, np.inf))
    return number + 1 if isinstance(number, int) else number + "x"


def changed_array(array: npt.NDArray[Any], place: int) -> npt.NDArray[Any]:
    """Return a copy with the last bit of one entry flipped; an empty array gets an entry."""
    if array.size == 0:
        return np.zeros((1,) * max(1, array.ndim), array.dtype)
    changed = array.copy()
    bits = changed.reshape(-1).view(f"u{array.dtype.itemsize}")
    bits[place % array.size] ^= 1
    return changed


def changed_packed(packed: PackedWeights, plane: int, place: int) -> PackedWeights:
    planes = packed.unpacked()
    planes[plane] = changed_array(planes[plane], place)
    if len({each.shape for each in planes}) > 1:
        planes = [np.zeros((1, 1), packed.dtype) for _ in planes]
    found: PackedWeights = PackedWeights.pack(*planes)
    return found


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every number and text of a header."""
    if isinstance(value, (dict, list, tuple)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            yield from leaves(part, (*path, key))
    else:
        yield path


def as_lists(value: Any) -> Any:
    """Return a copy of a header whose entries can be changed."""
    if isinstance(value, dict):
        return {key: as_lists(part) for key, part in value.items()}
    return list(map(as_lists, value)) if isinstance(value, (list, tuple)) else value


def changes(header: dict[str, Any], arrays: Arrays) -> Iterator[tuple[str, Parts]]:
    """Yield the parts of a model with one change each, and what was changed."""
    for path in leaves(header):
        if path == ("kind",):
            continue
        changed = inner = as_lists(header)
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = changed_number(inner[path[-1]])
        yield "/".join(map(str, path)), (changed, arrays)
    for name, array in arrays.items():
        if isinstance(array, PackedWeights):
            for plane in range(array.planes):
                for place in (0, 7, -1):
                    packed = changed_packed(array, plane, place)
                    yield f"{name}[{plane}][{place}]", (header, {**arrays, name: packed})
        else:
            for place in range(3):
                yield f"{name}[{place}]", (header, {**arrays, name: changed_array(array, place)})
            renamed = {each: found for each, found in arrays.items() if each != name}
            yield f"{name}: name", (header, {**renamed, f"{name}x": array})
            yield f"{name}: shape", (header, {**arrays, name: array[np.newaxis]})


def without_effect(model: Any) -> set[str]:
    """Return the changes that leave the hash as it is; all others change it."""
    header, arrays = pack(model)
    before = hash_of_parts(header, arrays)
    seen, found = {before: "nothing"}, set()
    for name, parts in changes(header, arrays):
        after = hash_of_parts(*parts)
        if after == before:
            found.add(name)
        elif name.endswith(("[1]", "[2]", "[7]", "[-1]")):  # an array may have one entry
            continue
        else:
            assert seen.setdefault(after, name) == name
    assert hash_of_parts(header, arrays) == before  # nothing was changed in place
    return found


@for_learners_with()
def test_everything_that_a_learner_saves_is_hashed(learner: LearnerCase) -> None:
    assert without_effect(learner.make().partial_fit(FIRST.X, FIRST.Y)) == set()


def tagger(**features: Any) -> Tagger:
    found = Tagger(features=TextFeatures(**features), min_precision={"b": 0.9, "a": "never"})
    for text, label in [("one two", "a"), ("two three", "b"), ("three four", "a")] * 3:
        found.learn({"subject": text}, [label])
    found.notes = {"seen": 9, "owner": {"name": "me"}}
    return found


@pytest.mark.parametrize("weighting", ["log", "tfidf"])
def test_all_of_a_tagger_but_notes_and_names_of_words_is_hashed(weighting: str) -> None:
    found = without_effect(tagger(buckets=None, weighting=weighting))
    arrays = {name for name in found if name.startswith("features/name_")}
    assert {name.split("[")[0].split(":")[0] for name in arrays} == {
        f"features/name_{part}" for part in ("text", "ends", "ids")
    }
    counts = {"features/numbers/items"} if weighting != "tfidf" else set()
    assert found - arrays == counts | {
        "notes/seen",
        "notes/owner/name",
        "features/params/names",
        "features/params/name_memory",
    }


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: OrdinalRanker(passes=2).fit(FIRST.X, FIRST.Y.argmax(axis=1) % 3), set()),
        (lambda: tagger().compact().learner, set()),
        (
            lambda: M3LClassifier(random_state=0).fit(FIRST.X, FIRST.Y),
            {"params/n_jobs", "params/verbose"},
        ),
    ],
    ids=["ordinal", "compact", "m3l"],
)
def test_everything_that_other_models_save_is_hashed(
    make: Callable[[], Any], expected: set[str]
) -> None:
    assert without_effect(make()) == expected


def race() -> Parts:
    return pack(LabelRanker().partial_fit(FIRST.X, FIRST.Y))


def test_the_form_of_arrays_and_headers_in_memory_has_no_effect() -> None:
    header, arrays = race()
    before = hash_of_parts(header, arrays)
    as_numpy = deepcopy(header)
    as_numpy["settings"] = {
        name: np.float64(value) if isinstance(value, float) else value
        for name, value in reversed(header["settings"].items())
    }
    as_numpy["labels"] = tuple(np.int64(label) for label in header["labels"])
    swapped = {
        name: array
        if isinstance(array, PackedWeights)
        else np.repeat(array.astype(array.dtype.newbyteorder(">")), 2)[::2]
        for name, array in reversed(arrays.items())
    }
    assert hash_of_parts(as_numpy, swapped) == before


@pytest.mark.parametrize(
    ("one", "other"), [(0.0, -0.0), (1, 1.0), (1, True), (None, "null"), ([], {}), (0.1, "0.1")]
)
def test_similar_values_have_different_hashes(one: Any, other: Any) -> None:
    header, arrays = race()
    hashes = [hash_of_parts({**header, "restarted": value}, arrays) for value in (one, other)]
    assert hashes[0] != hashes[1]


def test_arrays_of_other_types_and_the_same_bytes_have_different_hashes() -> None:
    header, arrays = race()
    other = {**arrays, "mean": arrays["mean"].view(np.int64)}
    assert hash_of_parts(header, other) != hash_of_parts(header, arrays)


def test_packed_weights_are_hashed_whatever_their_pieces() -> None:
    """Loaded weights have one piece per stream, those of a large model have many."""
    header, arrays = race()
    pieces = {}
    for name, array in arrays.items():
        if isinstance(array, PackedWeights):
            streams = [
                np.concatenate([*array.chunks(number), np.zeros(0, np.uint8)])
                for number in range(len(array.STREAMS))
            ]
            array = PackedWeights.from_streams(array.shape, array.planes, array.dtype, streams)
        pieces[name] = array
    assert hash_of_parts(header, pieces) == hash_of_parts(header, arrays)
