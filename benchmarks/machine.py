"""The circumstances of a measurement: date, commit, processor, versions."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).parent
OWN_PACKAGES = ("tagalong", "numpy", "scipy")


def machine() -> dict[str, str]:
    """Date, commit, processor and package versions; "not installed" for a missing peer."""
    return {
        "date": date.today().isoformat(),
        "commit": _commit(),
        "CPU": f"{_cpu()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        **{package: _version(package) for package in (*OWN_PACKAGES, *peer_packages())},
    }


def peer_packages() -> list[str]:
    """The packages that Tagalong is compared with."""
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
    """The current commit, marked "with changes" if the code (results aside) differs from it."""
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
