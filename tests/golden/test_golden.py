"""Every learner, geometry, update and input form gives the recorded results, bit by bit.

The last bits of a sum depend on the vector width, so the digests are recorded per width.
"""

import inspect
import json
import platform
from pathlib import Path

import pytest

from tagalong import _native
from tests.golden.runs import RUNS
from tests.golden.settings import SETTINGS

DIGESTS = Path(__file__).with_name("digests.json")
RECORDED = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}

only_where_recorded = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc",
    reason="the digests were recorded on x86-64 with glibc",
)


@only_where_recorded
@pytest.mark.parametrize("name", RUNS)
def test_digests_equal_the_recorded_ones(name: str, tmp_path: Path) -> None:
    assert RUNS[name](tmp_path) == RECORDED[_native.vector_width()][name]


@pytest.mark.parametrize("width", ["avx512f", "avx2", "default"])
def test_every_run_is_recorded_for_every_vector_width(width: str) -> None:
    assert RECORDED[width].keys() == RUNS.keys()


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_settings_list_every_parameter(kind: type) -> None:
    assert list(SETTINGS[kind]) == list(inspect.signature(kind).parameters)
