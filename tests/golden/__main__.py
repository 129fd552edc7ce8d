"""Writes the digests of this machine's vector width:  python -m tests.golden

Only for a change that is meant to change bits; its commit says which and why.
"""

import json
import tempfile
from pathlib import Path

from tagalong import _native
from tests.golden.runs import RUNS
from tests.golden.test_golden import DIGESTS

if __name__ == "__main__":
    found = {}
    for name, run in sorted(RUNS.items()):
        with tempfile.TemporaryDirectory() as folder:
            found[name] = run(Path(folder))
    known = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    known[_native.vector_width()] = found
    DIGESTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    print(f"{len(found)} runs at vector width {_native.vector_width()}: {DIGESTS}")
