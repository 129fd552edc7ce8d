"""Settings of all tests."""

import os
import signal

from hypothesis import HealthCheck, settings

# There is no deadline, because the time of an example depends on the machine. All runs use the
# same examples, so that failures are reproducible; "make test-long" generates new ones.
settings.register_profile(
    "tagalong",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("TAGALONG_NEW_EXAMPLES"),
)
settings.load_profile("tagalong")

# A shell starts background processes with SIGINT ignored, but some tests raise it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
