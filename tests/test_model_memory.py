"""Saving and loading a model needs little memory beside the model and its file."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.timeouts import TIMEOUT

MEASURE = """
import sys
import numpy as np
import scipy.sparse as sp
import tagalong
import tagalong.online.label_ranker.learner
from safetensors import safe_open

def peak():  # bytes
    with open("/proc/self/status") as status:
        [line] = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

def reset():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

path, step = sys.argv[1:]
if step == "save":
    random = np.random.default_rng(0)
    rows, words, labels = 1500, 12_000, 900
    X = sp.csr_array(
        (np.ones(rows * 20), random.integers(0, words, rows * 20), np.arange(rows + 1) * 20),
        shape=(rows, words),
    )
    Y = [[int(label)] for label in random.integers(0, labels, rows)]
    model = tagalong.LabelRanker(update="single", race=None, average=True)
    model.partial_fit(X, Y, classes=range(labels))
    tagalong.LabelRanker(race=None).partial_fit(np.eye(2), np.eye(2)).save(path)  # imports
    weights = model.bytes_of_weights
    reset()
    before = peak()
    model.save(path)
else:
    tagalong.load(path)
    reset()
    before = peak()
    model = tagalong.load(path)
    weights = model.bytes_of_weights
print(peak() - before, weights)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_weights_are_neither_copied_by_saving_nor_by_loading(tmp_path: Path) -> None:
    path = tmp_path / "model.tagalong"

    def measured(step: str) -> tuple[int, int]:
        command = [sys.executable, "-c", MEASURE, str(path), step]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, done.stderr
        grown, weights = map(int, done.stdout.split())
        return grown, weights

    more = 24 * 2**20  # buffers of bounded size
    grown, weights = measured("save")
    size = path.stat().st_size
    assert weights > 60e6
    assert size < weights / 10
    assert grown < 2 * size + more
    grown, weights = measured("load")
    assert grown < weights + 2 * size + more
