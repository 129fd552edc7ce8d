"""Record the digests for this machine's vector width: python -m tests.golden

Run it only for a change that is meant to change results. The commit says which ones and why.
"""

import json
import tempfile
from pathlib import Path

from tagalong import _native
from tests.golden.runs import RUNS
from tests.golden.test_golden import DIGESTS

if __name__ == "__main__":
    digests = {}
    for name, run in sorted(RUNS.items()):
        with tempfile.TemporaryDirectory() as folder:
            digests[name] = run(Path(folder))
    recorded = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    recorded[_native.vector_width()] = digests
    DIGESTS.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    print(f"{len(digests)} runs at vector width {_native.vector_width()}: {DIGESTS}")
