"""Install the package for development into the environment of the Python that runs this.

    .venv/bin/python tools/install.py            # to use it
    .venv/bin/python tools/install.py --tools    # to test it, too

The build requirements are installed first, into the same environment: an isolated environment would
be new at every install, and everything would be compiled again. Then the dependencies of Tagalong
are installed while its native core compiles: one waits for the network and the disk, the other for
the processor. uv installs the packages if it is on the path, because it is much faster; pip
installs them otherwise, or if uv fails, as uv does not read the configuration of pip. Modules are
compiled to bytecode when they are first imported, not during the install.
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
EXTRAS = ("plots",)
TOOLS = ("build", "test", "lint")
PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
STEP = re.compile(r"\s*\[(\d+)/(\d+)\] ")
"""The start of the line that ninja prints after each step."""


def requirements(pyproject: str, tools: bool = False) -> list[str]:
    """Return the dependencies of the package and its extras, and of the development tools."""
    settings = tomllib.loads(pyproject)
    project, groups = settings["project"], settings["dependency-groups"]
    extra = [need for name in EXTRAS for need in project["optional-dependencies"][name]]
    more = [need for name in TOOLS for need in groups[name]] if tools else []
    return [*project["dependencies"], *extra, *more]


def build_requirements(pyproject: str) -> list[str]:
    """Return the build requirements, with the programs that this machine lacks."""
    programs = [program for program in ("cmake", "ninja") if shutil.which(program) is None]
    return [*tomllib.loads(pyproject)["build-system"]["requires"], *programs]


def install_commands(needs: list[str], uv: str | None) -> list[list[str]]:
    """Return the commands that install packages, the preferred one first."""
    pip = [*PIP, "--quiet", "--no-compile", *needs]
    if uv is None:
        return [pip]
    return [[uv, "pip", "install", "--quiet", "--python", sys.executable, *needs], pip]


class Progress:
    """Shows the progress of the build: in one line on a terminal, in a few lines elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._quarters_shown = 0
        self._print("compiling the native core: about a minute", "\n")

    def read_line(self, line: str) -> None:
        """Show the progress if this line of the build's output reports a step."""
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
    """Build and install the package itself; show the output of the build if it fails."""
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
            progress.read_line(line)
    if build.returncode != 0:
        out.write("".join(output))
    return build.returncode == 0


def start(command: list[str]) -> subprocess.Popen[str]:
    """Start a command that installs packages."""
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(first: subprocess.Popen[str], others: list[list[str]]) -> bool:
    """Wait for an install command; if it fails, try the other commands one by one."""
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
    """Install the build requirements, then the package and its dependencies side by side."""
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    uv = shutil.which("uv")
    first, *others = install_commands(build_requirements(pyproject), uv)
    if not finish(start(first), others):
        return 1
    needs = requirements(pyproject, tools="--tools" in sys.argv[1:])
    first, *others = install_commands(needs, uv)
    with start(first) as packages:
        compiled = compile_core(sys.stdout)
        installed = finish(packages, others)
    return 0 if compiled and installed else 1


if __name__ == "__main__":
    sys.exit(main())
