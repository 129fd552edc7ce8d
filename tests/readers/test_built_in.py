"""Built-in streams: Debian tags and docstrings of the standard library."""

import ast
import itertools
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tagalong.readers import Item, ReadError, debtags, pydocs, read, streams

INDEX = """Package: one
Description: short
Description-en: longer text
 of several lines
 .
Tag: role::{program,
 shared-lib}, implemented-in::c

Package: two
Description: second
Tag: role::program

Package: one
Description: again
Tag: role::data

Package: untagged
Description: x
"""


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debtags, "_dumpavail", lambda: iter(INDEX.splitlines(keepends=True)))


@pytest.mark.usefixtures("index")
def test_debian_packages_with_tags() -> None:
    found = {item.id: item for item in read("debtags:", min_count=1)}
    assert found == {
        "one": Item(
            "one",
            "one longer text\nof several lines\n.",
            {},
            ("implemented-in::c", "role::program", "role::shared-lib"),
        ),
        "two": Item("two", "two second", {}, ("role::program",)),
    }
    assert [item.labels for item in read("debtags:", min_count=2)] == [("role::program",)] * 2
    with pytest.raises(ReadError, match=r"2 packages with tags.*apt-get .* update"):
        list(read("debtags:"))


@pytest.mark.parametrize("command", [None, "exit 3", "echo broken >&2; exit 100", "true"])
def test_unavailable_without_a_package_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str | None
) -> None:
    if command is not None:
        (tmp_path / "apt-cache").write_text(f"#!/bin/sh\n{command}\n")
        (tmp_path / "apt-cache").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(debtags, "_APT_LISTS", tmp_path)
    with pytest.raises(ReadError, match=r"^debtags:.*apt-get .* update"):
        next(read("debtags:"))
    (status,) = [stream for stream in streams() if stream.source == "debtags:"]
    assert not status.available
    assert status.problem


@pytest.mark.parametrize("helper", ["cat $2", None])
def test_apt_cache_runs_only_if_the_package_lists_show_no_tags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, helper: str | None
) -> None:
    programs = {"apt-cache": "touch asked; printf 'Package: one\\nTag: role::program\\n'"}
    if helper is not None:
        programs["helper"] = helper
    for name, command in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{command}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(debtags, "_APT_LISTS", tmp_path)
    monkeypatch.setattr(debtags, "_APT_HELPER", str(tmp_path / "helper"))

    def available() -> bool:
        (status,) = [stream for stream in streams() if stream.source == "debtags:"]
        return status.available

    (tmp_path / "main_Packages").write_text("Package: one\nTag: role::program\n")
    assert available()
    assert (tmp_path / "asked").exists() == (helper is None)
    (tmp_path / "main_Packages").write_text("Package: one\nSection: Tag:\n")
    assert available()
    assert (tmp_path / "asked").exists()


def test_empty_tag_field() -> None:
    assert debtags.expand_tags("") == set()


def test_the_first_docstring_needs_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than a tenth of the files are parsed for the first item."""
    parsed: list[Path] = []
    documented = pydocs._docstrings_of_file

    def counting(root: Path, file: Path) -> list[Item]:
        parsed.append(file)
        return documented(root, file)

    monkeypatch.setattr(pydocs, "_docstrings_of_file", counting)
    next(read("pydocs:"))
    files = pydocs._files(Path(sysconfig.get_path("stdlib")))
    assert 0 < len(parsed) < len(files) / 10


def test_order_is_the_same_in_another_process() -> None:
    code = "from tagalong.readers import read; print([next(s).id for s in [read('pydocs:')] * 50])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert ast.literal_eval(run.stdout) == [
        item.id for item in itertools.islice(read("pydocs:"), 50)
    ]


def test_topics_are_mixed() -> None:
    packages = [(item.labels or ("",))[0] for item in itertools.islice(read("pydocs:"), 300)]
    assert len(set(packages)) > 20
    assert max(packages.count(name) for name in set(packages)) < 75


def test_docstrings_of_known_modules() -> None:
    """Names, labels and places of a few objects of the json package."""
    wanted = {"json": "module", "json.dump": "function", "json.decoder.JSONDecoder": "class"}
    wanted["json.decoder.JSONDecoder.decode"] = "method"
    found: dict[str, Item] = {}
    root = Path(sysconfig.get_path("stdlib"))
    for file in pydocs._files(root):
        if file.parts[0] == "json":
            found |= {item.id: item for item in pydocs._docstrings_of_file(root, file)}
    for name, kind in wanted.items():
        module = "json.decoder" if "decoder" in name else "json"
        prefixes = ("json", "json.decoder")[: 1 + module.count(".")]
        assert found[name].labels == (*prefixes, f"kind:{kind}")
    assert str(found["json.dump"].text).startswith("dump\nSerialize ``obj``")
    assert not str(found["json"].text).startswith("json\n")
    path, line = found["json.dump"].place.rsplit(":", 1)
    assert "def dump(" in Path(path).read_text().splitlines()[int(line) - 1]


def test_every_docstring_of_a_library_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = {
        "a.py": '"""Module."""\nasync def f():\n    """F."""\n    def g():\n        """G."""',
        "p/__init__.py": 'class C:\n    """C."""\n    async def m(self):\n        """M."""',
        "p/q.py": 'def f():\n    """\\ud800"""\ndef g(): pass',
        "p/broken.py": "def (",
        "p/nul.py": "\0",
        "p/test/t.py": '"""Left out."""',
        "site-packages/x.py": '"""Left out."""',
    }
    for name, text in modules.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    assert sorted((item.id, item.labels, item.text) for item in read("pydocs:")) == [
        ("a", ("a", "kind:module"), "Module."),
        ("a.f", ("a", "kind:async function"), "f\nF."),
        ("a.f.g", ("a", "kind:function"), "g\nG."),
        ("p.C", ("p", "kind:class"), "C\nC."),
        ("p.C.m", ("p", "kind:async method"), "m\nM."),
    ]
