"""What holds for all tests."""

import os
import signal

# Tables fit the width of COLUMNS, which the workers of pytest-xdist set.
os.environ.pop("COLUMNS", None)

# A shell that starts the tests in the background makes them deaf to ctrl-C, and with them every
# process whose answer to it is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)
