"""Install the package for development into the environment of the Python that runs this.

    .venv/bin/python tools/install.py            # to use it
    .venv/bin/python tools/install.py --tools    # to test it, too

What the build needs comes first, into the same environment: an isolated one would be another at
every install, and everything would be compiled again. Then the packages that Tagalong needs are
installed while its native core compiles: one waits for the network and the disk, the other for the
processor. They come through uv where it is on the path, as it is much quicker, and through pip
otherwise or where uv fails: uv does not read pip's configuration. Modules are compiled to bytecode
when they are first imported, not all of them now.
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
"""How ninja begins the line of a step that is done."""


def requirements(pyproject: str, tools: bool = False) -> list[str]:
    """Return what the package and the extras of a development install need, and the tools."""
    settings = tomllib.loads(pyproject)
    project, groups = settings["project"], settings["dependency-groups"]
    extra = [need for name in EXTRAS for need in project["optional-dependencies"][name]]
    more = [need for name in TOOLS for need in groups[name]] if tools else []
    return [*project["dependencies"], *extra, *more]


def build_requirements(pyproject: str) -> list[str]:
    """Return what the build itself needs and this machine lacks."""
    programs = [program for program in ("cmake", "ninja") if shutil.which(program) is None]
    return [*tomllib.loads(pyproject)["build-system"]["requires"], *programs]


def ways(needs: list[str], uv: str | None) -> list[list[str]]:
    """Return the commands that install packages, the preferred one first."""
    pip = [*PIP, "--quiet", "--no-compile", *needs]
    if uv is None:
        return [pip]
    return [[uv, "pip", "install", "--quiet", "--python", sys.executable, *needs], pip]


class Progress:
    """Tells how far the compiler is: in place on a terminal, in a few lines elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._told = 0
        self._tell("compiling the native core: about a minute", "\n")

    def see(self, line: str) -> None:
        """Look at a line of the build's output."""
        if (step := STEP.match(line)) is None:
            return
        done, steps = int(step[1]), int(step[2])
        if self._terminal:
            self._tell(f"\r  {done} of {steps} files", "\n" if done == steps else "")
        elif (quarters := 4 * done // steps) > self._told:
            self._told = quarters
            self._tell(f"  {done} of {steps} files", "\n")

    def _tell(self, text: str, end: str) -> None:
        print(text, end=end, file=self._out, flush=True)


def compile_core(out: TextIO) -> bool:
    """Build and install the package itself; where that fails, show all that the build said."""
    command = [*PIP, "--verbose", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    progress = Progress(out)
    said = []
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
            said.append(line)
            progress.see(line)
    if build.returncode != 0:
        out.write("".join(said))
    return build.returncode == 0


def begin(command: list[str]) -> subprocess.Popen[str]:
    """Start to install packages."""
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(first: subprocess.Popen[str], others: list[list[str]]) -> bool:
    """Wait for packages to be installed; where that fails, try the other ways one by one."""
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
    """Install what the build needs, then the package and its packages side by side."""
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    uv = shutil.which("uv")
    first, *others = ways(build_requirements(pyproject), uv)
    if not finish(begin(first), others):
        return 1
    needs = requirements(pyproject, tools="--tools" in sys.argv[1:])
    first, *others = ways(needs, uv)
    with begin(first) as packages:
        compiled = compile_core(sys.stdout)
        installed = finish(packages, others)
    return 0 if compiled and installed else 1


if __name__ == "__main__":
    sys.exit(main())
