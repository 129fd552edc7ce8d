"""M3L model files of earlier versions still load and give the same predictions."""

import json
from pathlib import Path

import numpy as np
import pytest

from tagalong import M3LClassifier, load
from tagalong.learning import model_files
from tests.data.make_models import FOLDER, M3L

FILES = sorted(path for kind in M3L for path in FOLDER.glob(f"{kind}-format*.tagalong"))


def test_every_kind_has_a_file_in_the_current_format() -> None:
    names = {path.name for path in FILES}
    assert names >= {f"{kind}-format{model_files.FORMAT}.tagalong" for kind in M3L}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_file_gives_the_recorded_predictions(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    model = load(path)
    assert isinstance(model, M3LClassifier)
    assert [repr(label) for label in model.classes_.tolist()] == expected["labels"]
    rows = np.array(expected["examples"])
    np.testing.assert_allclose(model.decision_function(rows), expected["scores"], rtol=1e-6)
    assert model.predict(rows).tolist() == expected["predicted"]
    assert model.dual_objective_ == expected["dual_objective"]
    assert model.duality_gap_ == expected["duality_gap"]
