"""Development install: requirements, choice of the installer, progress output."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from tools.install import (
    ROOT,
    Progress,
    build_requirements,
    finish_install,
    install_commands,
    requirements,
    service_requirements,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress_output(out: io.StringIO, steps: int) -> str:
    progress = Progress(out)
    progress.update("-- Configuring done\n")
    for step in range(1, steps + 1):
        progress.update(f"  [{step}/{steps}] Building CXX object CMakeFiles/core.dir/file.cpp.o\n")
    return out.getvalue()


def test_requirements_of_the_package_its_plots_and_its_page():
    needs = requirements((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = {need.partition(">")[0] for need in needs}
    core = {"numpy", "scipy", "scikit-learn", "safetensors", "rich"}
    serve = {"starlette", "uvicorn", "httptools", "python-multipart", "jinja2"}
    assert names == core | {"matplotlib"} | serve


def test_tools_are_installed_on_request():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    more = set(requirements(pyproject, tools=True)) - set(requirements(pyproject))
    names = {need.partition(">")[0] for need in more}
    assert {"pytest", "hypothesis", "ruff", "mypy", "import-linter", "ninja"} <= names


def test_tests_of_services_need_little_more():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = [need.partition(">")[0] for need in service_requirements(pyproject)]
    assert names == ["schemathesis", "playwright", "axe-playwright-python"]
    assert not set(service_requirements(pyproject)) & set(requirements(pyproject, tools=True))


def test_missing_build_programs_are_installed(monkeypatch):
    pyproject = '[build-system]\nrequires = ["nanobind"]\n'
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert build_requirements(pyproject) == ["nanobind", "cmake", "ninja"]
    monkeypatch.setattr("shutil.which", lambda program: f"/bin/{program}")
    assert build_requirements(pyproject) == ["nanobind"]


def test_uv_is_preferred_and_pip_is_the_fallback():
    assert [command[1:3] for command in install_commands(["numpy"], None)] == [["-m", "pip"]]
    first, second = install_commands(["numpy"], "uv")
    assert first[0] == "uv"
    assert second[1:3] == ["-m", "pip"]
    assert first[-1] == second[-1] == "numpy"


def test_progress_in_a_file_is_a_few_lines():
    lines = progress_output(io.StringIO(), 40).splitlines()
    assert lines[0] == "compiling the native core: about a minute"
    assert lines[1:] == [f"  {done} of 40 files" for done in (10, 20, 30, 40)]


def test_progress_on_a_terminal_is_one_updated_line():
    text = progress_output(Terminal(), 40)
    assert text.count("\n") == 2
    assert text.endswith("\r  40 of 40 files\n")
    assert text.count("\r") == 40


def process(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_next_command_is_tried_after_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "installed"
    other = [sys.executable, "-c", f"open({str(mark)!r}, 'w')"]
    assert finish_install(process("pass"), [other])
    assert not mark.exists()
    assert finish_install(process("raise SystemExit('no index')"), [other])
    assert mark.exists()
    assert capsys.readouterr().out == ""


def test_the_last_failure_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    failing = [sys.executable, "-c", "raise SystemExit('no such package')"]
    assert not finish_install(process("raise SystemExit('no index')"), [failing])
    assert capsys.readouterr().out == "no such package\n"
