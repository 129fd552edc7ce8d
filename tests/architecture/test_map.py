"""docs/architecture.md names only files that exist, every directory, and every layer."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DIAGRAM = PAGE[PAGE.index("┌") : PAGE.index("└")]
SOURCES = [
    path.relative_to(ROOT)
    for folder in ("src/tagalong", "cpp", "tests")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".hpp", ".cpp")
]
NAMED_FILES = sorted(set(re.findall(r"`([\w/]+\.(?:py|hpp|cpp))`", PAGE)))


@pytest.mark.parametrize("name", NAMED_FILES)
def test_named_files_exist(name: str) -> None:
    assert any(f"/{path.as_posix()}".endswith(f"/{name}") for path in SOURCES)


def test_the_page_names_many_files() -> None:
    assert len(NAMED_FILES) > 20


@pytest.mark.parametrize("folder", ["src/tagalong", "cpp"])
def test_every_directory_is_in_a_table(folder: str) -> None:
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
    directories = [
        path.name
        for path in (ROOT / folder).iterdir()
        if path.is_dir() and path.name != "__pycache__"
    ]
    missing = [name for name in directories if f"`{name}/" not in rows]
    assert not missing


def test_modules_in_the_table_of_packages_exist() -> None:
    """A row names modules of its package, without the suffix: `labels`, `m3l/`."""
    table = PAGE[PAGE.index("| Python package") :].partition("\n\n")[0]
    missing = []
    for row in table.splitlines()[2:]:
        packages, contents = row.strip("| ").split(" | ", 1)
        folders = [ROOT / "src/tagalong" / name for name in re.findall(r"`([\w/]+)/`", packages)]
        for name in re.findall(r"`([a-z][a-z_0-9]*)/?`", contents):
            if folders and not any(
                (f / f"{name}.py").exists() or (f / name).is_dir() for f in folders
            ):
                missing.append(f"{packages}: {name}")
    assert not missing


def test_the_diagram_has_the_layers_in_order() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["type"] == "layers")
    lines = [re.split(r"\s{2,}", line.strip("│ ")) for line in DIAGRAM.splitlines() if "│" in line]
    previous = -1
    for layer in layers:
        names = [name.strip().removeprefix("tagalong.") for name in layer.split("|")]
        found = [number for number, words in enumerate(lines) if set(names) <= set(words)]
        assert found, f"{layer} is not in the diagram"
        assert found[0] > previous, f"{layer} is above the layer that it should be below"
        previous = found[0]
