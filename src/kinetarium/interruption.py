"""Stop requests (Ctrl-C, SIGTERM) that cannot get lost.

Python raises KeyboardInterrupt wherever the program happens to be, and some places swallow
or convert it: callbacks, look-ups within C code, libraries that are being imported. So a stop
request is also stored, and checked where it is safe to stop.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_stop_requests: list[signal.Signals] = []

_REPLACED: dict[signal.Signals, signal.Handlers | Callable[[int, FrameType | None], None]] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
"""The signals that request a stop, and their default handlers."""


@contextmanager
def handling_stop_signals() -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM alike: raise KeyboardInterrupt and store the request.

    Signals that are ignored, or have a handler of somebody else, keep it. Only the main
    thread can handle signals.
    """
    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [number for number, usual in _REPLACED.items() if signal.getsignal(number) == usual]
    for number in taken:
        signal.signal(number, _on_signal)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, _REPLACED[number])
        _stop_requests.clear()


def stop_request() -> signal.Signals | None:
    """Return the signal that requested this process to stop, or None."""
    return _stop_requests[-1] if _stop_requests else None


def is_stop_request(error: BaseException) -> bool:
    """Return whether an exception is a stop request, or results from one."""
    return isinstance(error, KeyboardInterrupt) or bool(_stop_requests)


def stop_if_requested() -> None:
    """Raise a stop request again that was swallowed on its way.

    Raises:
        KeyboardInterrupt: If a stop was requested.
    """
    if _stop_requests:
        raise KeyboardInterrupt


def _on_signal(number: int, frame: FrameType | None) -> None:
    _stop_requests.append(signal.Signals(number))
    raise KeyboardInterrupt
