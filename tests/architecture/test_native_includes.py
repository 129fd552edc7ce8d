"""The directories of the native core include each other in one direction only."""

import re
from pathlib import Path

import pytest

CPP = Path(__file__).parents[2] / "cpp"

# From low to high: the directories that each one may include, besides itself.
BUILDS_ON: dict[str, set[str]] = {
    "core": set(),
    "rules": {"core"},
    "geometry": {"core", "rules"},
    "predictions": {"core"},
    "ranker": {"core", "rules", "geometry", "predictions"},
    "race": {"core", "rules", "geometry", "predictions", "ranker"},
    "compact": {"core", "predictions", "ranker", "race"},
    "blocks": {"core", "rules", "geometry"},
    "shared": {"core", "blocks", "predictions"},
    "grades": {"core", "blocks", "predictions", "race"},
    "partial": {"core", "predictions"},
    "predtron": {"core", "rules", "geometry", "predictions"},
    "m3l": {"core"},
    "text": {"core"},
}
ON_TOP = ("bind", "tests", "fuzz", "workloads")
SOURCES = sorted(path for path in CPP.rglob("*") if path.suffix in (".hpp", ".cpp", ".inc"))
INCLUDE = re.compile(r'#include "([^"]+)"')
SYSTEM_INCLUDE = re.compile(r"#include <([^>]+)>")


def included(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text())


def directory(path: Path) -> str:
    return path.relative_to(CPP).parts[0]


def test_every_source_directory_is_listed() -> None:
    assert {directory(path) for path in SOURCES} == {*BUILDS_ON, *ON_TOP}


def test_directories_build_only_on_lower_ones() -> None:
    order = list(BUILDS_ON)
    for name, below in BUILDS_ON.items():
        assert all(order.index(lower) < order.index(name) for lower in below), name


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CPP)))
def test_includes_are_paths_from_cpp_to_allowed_directories(path: Path) -> None:
    own = directory(path)
    allowed = {*BUILDS_ON, own} if own in ON_TOP else {*BUILDS_ON[own], own}
    if own == "workloads":
        allowed.add("tests")  # both use the same streams
    for name in included(path):
        assert (CPP / name).is_file(), f"{name} is not a path from cpp/"
        assert name.split("/")[0] in allowed, f"{own} must not include {name}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CPP)))
def test_only_the_binding_includes_python_headers(path: Path) -> None:
    python_headers = [
        name
        for name in SYSTEM_INCLUDE.findall(path.read_text())
        if name.startswith(("nanobind", "Python"))
    ]
    assert directory(path) == "bind" or not python_headers
