"""What holds for all tests."""

import os
import signal

from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about the code. Every run has the same
# examples, so that a run that fails fails again; make test-long looks for new ones.
settings.register_profile(
    "tagalong",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("TAGALONG_NEW_EXAMPLES"),
)
settings.load_profile("tagalong")

# What a shell starts in the background inherits that Ctrl-C is ignored; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
