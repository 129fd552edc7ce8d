"""What figures depend on: date, commit, processor, versions."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).parent
OURS = ("tagalong", "numpy", "scipy")


def machine() -> dict[str, str]:
    """Everything, by name. A peer that is not there says so."""
    return {
        "date": date.today().isoformat(),
        "commit": _commit(),
        "CPU": f"{_cpu()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        **{package: _version(package) for package in (*OURS, *peers())},
    }


def peers() -> list[str]:
    """The packages that we are measured against."""
    text = (FOLDER / "requirements-peers.txt").read_text(encoding="utf-8")
    return re.findall(r"^[A-Za-z][\w-]*", text, re.MULTILINE)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    """The commit, marked where code differs from it; results being written do not count."""
    git = ["git", "-C", str(FOLDER.parent)]
    try:
        found = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    code = ["src", "cpp", "CMakeLists.txt", "pyproject.toml", "benchmarks/*.py"]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", *code], check=False).returncode
    return found.stdout.strip() + (" with changes" if changed else "")
