"""Every learner, geometry, update and way in gives the bits that it gave when they were recorded.

Sums may differ in their last bits between vector widths, so each width has digests of its own.
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
KNOWN = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}

only_where_recorded = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc",
    reason="the digests were recorded on x86-64 with glibc",
)


@only_where_recorded
@pytest.mark.parametrize("name", RUNS)
def test_bits_are_those_on_file(name: str, tmp_path: Path) -> None:
    assert RUNS[name](tmp_path) == KNOWN[_native.vector_width()][name]


@pytest.mark.parametrize("width", ["avx512f", "avx2", "default"])
def test_every_run_is_on_file_for_every_vector_width(width: str) -> None:
    assert KNOWN[width].keys() == RUNS.keys()


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_given(kind: type) -> None:
    assert list(SETTINGS[kind]) == list(inspect.signature(kind).parameters)
