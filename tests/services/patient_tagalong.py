"""The command `tagalong`, but a server may take as long to stop as a busy machine needs.

By itself a server ends after five seconds, with what was acknowledged in the journal but perhaps
without a snapshot; ``tests/server/test_running.py`` tests that.
"""

import sys
from functools import partial

from tagalong.cli import serve
from tagalong.cli.main import main
from tagalong.server.http.running import Running
from tests.timeouts import TIMEOUT

if __name__ == "__main__":
    serve.Running = partial(Running, request_seconds=TIMEOUT, stop_seconds=TIMEOUT)  # type: ignore[assignment,misc]
    sys.exit(main())
