"""Files of M3L models that earlier versions have written still answer as they did."""

import json
from pathlib import Path

import numpy as np
import pytest

from tagalong import M3LClassifier, load
from tagalong.learning import model_files
from tests.data.make_models import FOLDER, M3L

FILES = sorted(path for kind in M3L for path in FOLDER.glob(f"{kind}-format*.tagalong"))


def test_there_is_a_file_of_each_kind_in_the_present_format() -> None:
    names = {path.name for path in FILES}
    assert names >= {f"{kind}-format{model_files.FORMAT}.tagalong" for kind in M3L}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kept_file_answers_as_it_did(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    model = load(path)
    assert isinstance(model, M3LClassifier)
    assert [repr(label) for label in model.classes_.tolist()] == expected["labels"]
    rows = np.array(expected["examples"])
    np.testing.assert_allclose(model.decision_function(rows), expected["scores"], rtol=1e-6)
    assert model.predict(rows).tolist() == expected["predicted"]
    assert model.dual_objective_ == expected["dual_objective"]
    assert model.duality_gap_ == expected["duality_gap"]
