"""What holds for all tests."""

import signal

# A shell that starts the tests in the background makes them deaf to ctrl-C, and with them every
# process whose answer to it is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)
