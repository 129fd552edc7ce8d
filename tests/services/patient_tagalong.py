"""The command `tagalong`, but a server may take as long to stop as a busy machine needs.

By itself a server ends after five seconds, with what was acknowledged in the journal but perhaps
without a snapshot; ``tests/server/test_running.py`` tests that.
"""

import sys
from collections.abc import Sequence
from functools import partial
from unittest.mock import patch

from tagalong.cli import serve
from tagalong.cli.main import main
from tagalong.server.http.running import Running
from tests.timeouts import TIMEOUT


def patient_main(args: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit code."""
    patient = partial(Running, request_seconds=TIMEOUT, stop_seconds=TIMEOUT)
    with patch.object(serve, "Running", patient):
        return main(args)


if __name__ == "__main__":
    sys.exit(patient_main())
