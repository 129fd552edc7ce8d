"""Attack operations with faults of system calls: python -m tests.faults [OPERATION ...]

Every call of an operation on its files suffers every fault, in a run of its own. Afterwards the old
or the new files must be there, and the next run must complete the work.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.injection import PRELOAD, compile_library, is_preloaded


def main() -> int:
    """Run the attacks; the exit code is 1 if something went wrong."""
    from tests.faults.driver import attack
    from tests.faults.operations import OPERATIONS

    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("operation", nargs="*", choices=[*OPERATIONS, []])
    parser.add_argument("--per-kind", type=int, help="attack so many calls of each kind only")
    args = parser.parse_args()
    failed, base = False, tempfile.gettempdir()
    for name in args.operation or OPERATIONS:
        with tempfile.TemporaryDirectory(prefix="faults", dir=base) as folder:
            runs, complaints = attack(OPERATIONS[name](), Path(folder).resolve(), args.per_kind)
        for complaint in complaints:
            print(complaint)
        print(f"{name}: {runs:,} runs with a fault, {len(complaints):,} complaints", flush=True)
        failed |= bool(complaints)
    return int(failed)


if __name__ == "__main__":
    if is_preloaded():
        sys.exit(main())
    with tempfile.TemporaryDirectory(prefix="inject") as folder:
        environment = {**os.environ, PRELOAD: str(compile_library(Path(folder)))}
        command = [sys.executable, "-m", "tests.faults", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=environment).returncode)
