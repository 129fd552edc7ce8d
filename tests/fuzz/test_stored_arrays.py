"""Model files whose compressed and packed arrays were changed, with valid checksums."""

import json
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, ModelFileError
from tests.fuzz.model_use import use
from tests.model_files import forge, stored_parts
from tests.race_streams import changing_words

NUMBERS: list[Any] = [0, 1, -1, 2, 3, 7, 2**16, 2**31, 2**40, 2**63, 1.5, True, None, "a", []]
TYPES: list[Any] = ["uint8", "int32", "float32", "float64", "bool", "object", "", 3, None]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Any]:
    path = tmp_path_factory.mktemp("stored") / "m"
    LabelRanker().partial_fit(*changing_words(60), "grow").save(path)
    found = stored_parts(path)
    assert any("planes" in each for each in found[1].values())
    assert any("planes" not in each for each in found[1].values())
    return found


def changed(random: np.random.Generator, descriptions: Any, arrays: Any) -> None:
    """Change the description of an array, or some bytes of what is stored."""
    if random.random() < 0.4:
        found = descriptions[str(random.choice(sorted(descriptions)))]
        kind = random.integers(4)
        if kind == 0:
            found["dtype"] = TYPES[random.integers(len(TYPES))]
        elif kind == 1 and isinstance(found["shape"], list) and found["shape"]:
            place = random.integers(len(found["shape"]))
            found["shape"][place] = NUMBERS[random.integers(len(NUMBERS))]
        elif kind == 2:
            found["planes"] = NUMBERS[random.integers(len(NUMBERS))]
        else:
            found["shape"] = NUMBERS[random.integers(len(NUMBERS))]
        return
    name = str(random.choice(sorted(arrays)))
    array = arrays[name].copy()
    kind = random.integers(4)
    data = array.reshape(-1).view(np.uint8)
    if kind == 0 and len(array):
        arrays[name] = array[: random.integers(len(array))].copy()
    elif kind == 1:
        arrays[name] = np.concatenate([array, array])
    elif kind == 2:
        del arrays[name]
    elif len(data):
        for _ in range(int(random.integers(1, 4))):
            data[random.integers(len(data))] ^= random.integers(1, 256)
        arrays[name] = array


@pytest.mark.parametrize("seed", range(4))
def test_changed_streams_are_refused_or_work(stored: Any, tmp_path: Path, seed: int) -> None:
    header, descriptions, arrays = stored
    path = tmp_path / "m"
    outcomes = {"refused": 0, "used": 0}
    for case in range(150):
        random = np.random.default_rng([seed, case])
        own_descriptions, own_arrays = deepcopy(descriptions), dict(arrays)
        changed(random, own_descriptions, own_arrays)
        forge(path, header, own_arrays, own_descriptions)
        try:
            model = tagalong.load(path)
        except ModelFileError:
            outcomes["refused"] += 1
            continue
        outcomes["used"] += 1
        with suppress(OverflowError):  # huge but finite weights
            use(model)
    assert outcomes["refused"] > 75
    assert outcomes["used"] > 0


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "null", '{"a": 1}', '{"a": []}', "[" * 99999])
def test_other_descriptions_are_refused(stored: Any, tmp_path: Path, text: str) -> None:
    from safetensors.numpy import save_file

    from tagalong.learning import model_files

    header, _, arrays = stored
    metadata = {"tagalong": json.dumps(header), "arrays": text}
    tensors = {name: model_files.tensor_of(array) for name, array in arrays.items()}
    metadata["sha256"] = model_files._checksum(metadata, tensors)
    save_file(arrays, tmp_path / "m", metadata=metadata)
    with pytest.raises(ModelFileError):
        tagalong.load(tmp_path / "m")
