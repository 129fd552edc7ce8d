"""Stress all models with a native module that ThreadSanitizer watches: python -m tests.threads

    make test-threads SECONDS=30

builds the module and runs this command. It ends with exit code 66 at the first data race.
"""

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

PRELOAD = "LD_PRELOAD"
# Python and NumPy are not instrumented. The interpreter lock still orders what it protects.
OPTIONS = "halt_on_error=1 exitcode=66 ignore_noninstrumented_modules=1 history_size=5"


class InstrumentedModule(importlib.abc.MetaPathFinder):
    """Lets Python import the native module from another file."""

    def __init__(self, path: Path):
        self._path = path

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where the native module is; None for all other modules."""
        if name != "tagalong._native":
            return None
        return importlib.util.spec_from_file_location(name, self._path)


def stress_all(seconds: float, chosen: list[str]) -> None:
    """Share some time between the scenarios."""
    from tests.threads.scenarios import SCENARIOS
    from tests.threads.stress import stress

    names = chosen or list(SCENARIOS)
    for name in names:
        changes, reads = stress(SCENARIOS[name], seconds / len(names))
        print(f"{name}: {changes:,} changes, {reads:,} reads", flush=True)


def restart_under_sanitizer() -> int:
    """Run this command again with the sanitizer's library, and return its exit code."""
    compiler = os.environ.get("CXX", "c++")
    found = subprocess.run(
        [compiler, "-print-file-name=libtsan.so"], capture_output=True, text=True
    )
    library = Path(found.stdout.strip()).resolve()
    if not library.is_absolute() or not library.exists():
        sys.exit(f"{compiler} has no libtsan.so, which ThreadSanitizer needs")
    # Without random addresses: the sanitizer needs fixed places for its own memory.
    prefix = ["setarch", "-R"] if shutil.which("setarch") else []
    command = [*prefix, sys.executable, "-m", "tests.threads", *sys.argv[1:]]
    options = f"{OPTIONS} {os.environ.get('TSAN_OPTIONS', '')}"
    environment = {**os.environ, PRELOAD: str(library), "TSAN_OPTIONS": options}
    return subprocess.run(command, env=environment).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.threads", description=__doc__)
    parser.add_argument("--module", type=Path, required=True, help="the instrumented module")
    parser.add_argument("--seconds", type=float, default=30.0, help="time for all scenarios")
    parser.add_argument("scenario", nargs="*", help="names of scenarios (default: all)")
    args = parser.parse_args()
    if "libtsan" not in os.environ.get(PRELOAD, ""):
        return restart_under_sanitizer()
    sys.meta_path.insert(0, InstrumentedModule(args.module.resolve()))
    stress_all(args.seconds, args.scenario)
    return 0


if __name__ == "__main__":
    sys.exit(main())
