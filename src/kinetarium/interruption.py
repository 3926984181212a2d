"""Interruption: a wish to stop that cannot get lost.

Python raises KeyboardInterrupt wherever the program happens to be, and some of those places
swallow it or make something else of it: callbacks, look-ups within C code, libraries that are
just being imported. So the wish is remembered, too, and looked for where it is safe to stop.
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
"""The signals that ask to stop, and how each is answered if nobody chose otherwise."""


@contextmanager
def handling_stop_signals() -> Iterator[None]:
    """Take ctrl-C and SIGTERM alike: as KeyboardInterrupt, and remembered.

    What somebody has chosen to ignore, or to answer otherwise, stays so; and
    only the main thread can listen.
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
    """Return the signal that has asked this process to stop, if one has."""
    return _stop_requests[-1] if _stop_requests else None


def is_stop_request(error: BaseException) -> bool:
    """Return whether an exception is a wish to stop, or what has become of one."""
    return isinstance(error, KeyboardInterrupt) or bool(_stop_requests)


def stop_if_requested() -> None:
    """Stop here if that was asked for and got lost on its way.

    Raises:
        KeyboardInterrupt: If it was.
    """
    if _stop_requests:
        raise KeyboardInterrupt


def _on_signal(number: int, frame: FrameType | None) -> None:
    _stop_requests.append(signal.Signals(number))
    raise KeyboardInterrupt
