"""Attack operations with faults of system calls: python -m tests.faults [OPERATION ...]

Every call of an operation on its files suffers every fault, in a run of its own. Afterwards the old
or the new files must be there, and the next run must complete the work. With --kills the operations
are killed at random moments instead.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.injection import PRELOAD, compile_library, is_preloaded

MEMORY = "/dev/shm"


def main() -> int:
    """Run the attacks; the exit code is 1 if something went wrong."""
    from tests.faults.careless import Careless
    from tests.faults.driver import attack
    from tests.faults.journal_operations import JOURNAL_OPERATIONS
    from tests.faults.kills import kill_randomly
    from tests.faults.operations import OPERATIONS, Operation

    good: dict[str, type[Operation]] = {**OPERATIONS, **JOURNAL_OPERATIONS}
    every: dict[str, type[Operation]] = {**good, Careless.name: Careless}
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("operation", nargs="*", choices=[*every, []])
    parser.add_argument("--per-kind", type=int, help="attack so many calls of each kind only")
    parser.add_argument("--kills", type=int, help="kill so often at random moments instead")
    parser.add_argument("--seed", type=int, default=1, help="chooses the moments (default: 1)")
    args = parser.parse_args()
    # Operations set another folder for temporary files. Memory is faster than a disk.
    failed, base = False, MEMORY if os.access(MEMORY, os.W_OK) else tempfile.gettempdir()
    for name in args.operation or good:
        with tempfile.TemporaryDirectory(prefix="faults", dir=base) as path:
            folder, operation = Path(path).resolve(), every[name]()
            if args.kills is not None:
                runs, complaints = (
                    args.kills,
                    kill_randomly(operation, folder, args.kills, args.seed),
                )
            else:
                runs, complaints = attack(operation, folder, args.per_kind)
        for complaint in complaints:
            print(complaint)
        print(f"{name}: {runs:,} faults, {len(complaints):,} complaints", flush=True)
        failed |= bool(complaints)
    return int(failed)


if __name__ == "__main__":
    if is_preloaded():
        sys.exit(main())
    with tempfile.TemporaryDirectory(prefix="inject") as folder:
        environment = {**os.environ, PRELOAD: str(compile_library(Path(folder)))}
        command = [sys.executable, "-m", "tests.faults", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=environment).returncode)
