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

_wishes: list[signal.Signals] = []

_REPLACED: dict[signal.Signals, signal.Handlers | Callable[[int, FrameType | None], None]] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
"""The signals that ask to stop, and how each is answered if nobody chose otherwise."""


@contextmanager
def listening() -> Iterator[None]:
    """Take ctrl-C and SIGTERM alike: as KeyboardInterrupt, and remembered.

    What somebody has chosen to ignore, or to answer otherwise, stays so; and
    only the main thread can listen.
    """
    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [number for number, usual in _REPLACED.items() if signal.getsignal(number) == usual]
    for number in taken:
        signal.signal(number, _hear)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, _REPLACED[number])
        _wishes.clear()


def asked() -> signal.Signals | None:
    """Return the signal that has asked this process to stop, if one has."""
    return _wishes[-1] if _wishes else None


def is_stop(error: BaseException) -> bool:
    """Return whether an exception is a wish to stop, or what has become of one."""
    return isinstance(error, KeyboardInterrupt) or bool(_wishes)


def stop_if_asked() -> None:
    """Stop here if that was asked for and got lost on its way.

    Raises:
        KeyboardInterrupt: If it was.
    """
    if _wishes:
        raise KeyboardInterrupt


def _hear(number: int, frame: FrameType | None) -> None:
    _wishes.append(signal.Signals(number))
    raise KeyboardInterrupt
