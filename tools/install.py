"""Install the package for development into the environment of the Python that runs this script.

    .venv/bin/python tools/install.py            # package and dependencies
    .venv/bin/python tools/install.py --tools    # also the tools for tests and linting
    .venv/bin/python tools/install.py --services # only the further tools for tests of services

The build requirements are installed first, into the same environment. An isolated build environment
would be a new one at every install, and everything would be compiled again. Then the dependencies
are installed while the native core compiles: one waits for network and disk, the other for the
processor. uv installs the packages if it is on the path, since it is much faster; pip installs them
otherwise, or if uv fails, since uv does not read pip's configuration. Modules are compiled to
bytecode at their first import, not during the install.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).parents[1]
EXTRAS = ("plots", "serve")  # the demo draws a plot, and names the page as the next step
TOOLS = ("build", "test", "lint")
PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
STEP = re.compile(r"\s*\[(\d+)/(\d+)\] ")
"""Start of the line that ninja prints for each completed step."""


def requirements(pyproject: str, tools: bool = False) -> list[str]:
    """Return the dependencies of a development install, with those of the tools if asked."""
    settings = tomllib.loads(pyproject)
    project, groups = settings["project"], settings["dependency-groups"]
    extra = [need for name in EXTRAS for need in project["optional-dependencies"][name]]
    more = [need for name in TOOLS for need in groups[name]] if tools else []
    return [*project["dependencies"], *extra, *more]


def service_requirements(pyproject: str) -> list[str]:
    """Return the further dependencies of tests against services."""
    needs: list[str] = tomllib.loads(pyproject)["dependency-groups"]["services"]
    return needs


def build_requirements(pyproject: str) -> list[str]:
    """Return the requirements of the build, with cmake and ninja if the machine lacks them."""
    programs = [program for program in ("cmake", "ninja") if shutil.which(program) is None]
    return [*tomllib.loads(pyproject)["build-system"]["requires"], *programs]


def install_commands(needs: list[str], uv: str | None) -> list[list[str]]:
    """Return commands that install packages, in order of preference."""
    pip = [*PIP, "--quiet", "--no-compile", *needs]
    if uv is None:
        return [pip]
    return [[uv, "pip", "install", "--quiet", "--python", sys.executable, *needs], pip]


class Progress:
    """Progress of the build: one updated line on a terminal, a few lines elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._quarters_shown = 0
        self._print("compiling the native core: about a minute", "\n")

    def update(self, line: str) -> None:
        """Update the progress from a line of the build's output."""
        if (step := STEP.match(line)) is None:
            return
        done, steps = int(step[1]), int(step[2])
        if self._terminal:
            self._print(f"\r  {done} of {steps} files", "\n" if done == steps else "")
        elif (quarters := 4 * done // steps) > self._quarters_shown:
            self._quarters_shown = quarters
            self._print(f"  {done} of {steps} files", "\n")

    def _print(self, text: str, end: str) -> None:
        print(text, end=end, file=self._out, flush=True)


def compile_core(out: TextIO) -> bool:
    """Build and install the package itself; if that fails, print the whole output of the build."""
    command = [*PIP, "--verbose", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    progress = Progress(out)
    output = []
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=os.environ | {"PIP_NO_COMPILE": "1"},
    ) as build:
        assert build.stdout is not None
        for line in build.stdout:
            output.append(line)
            progress.update(line)
    if build.returncode != 0:
        out.write("".join(output))
    return build.returncode == 0


def start_install(command: list[str]) -> subprocess.Popen[str]:
    """Start a command that installs packages."""
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish_install(first: subprocess.Popen[str], others: list[list[str]]) -> bool:
    """Wait for the installation of packages; if it fails, try the other commands in turn."""
    message, _ = first.communicate()
    if first.returncode == 0:
        return True
    for command in others:
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        message = ran.stdout
        if ran.returncode == 0:
            return True
    print(message, end="")
    return False


def main() -> int:
    """Install the build requirements, then the package and its dependencies in parallel."""
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    uv = shutil.which("uv")
    if "--services" in sys.argv[1:]:
        first, *others = install_commands(service_requirements(pyproject), uv)
        return 0 if finish_install(start_install(first), others) else 1
    first, *others = install_commands(build_requirements(pyproject), uv)
    if not finish_install(start_install(first), others):
        return 1
    needs = requirements(pyproject, tools="--tools" in sys.argv[1:])
    first, *others = install_commands(needs, uv)
    with start_install(first) as packages:
        compiled = compile_core(sys.stdout)
        installed = finish_install(packages, others)
    return 0 if compiled and installed else 1


if __name__ == "__main__":
    sys.exit(main())
