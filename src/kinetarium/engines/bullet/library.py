"""pybullet, loaded with the first scene and kept from writing to the terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

from kinetarium.errors import KinetariumError


@cache
def load() -> Any:
    """Import pybullet, which greets on the error stream."""
    with quiet():
        import pybullet
    return pybullet


@contextmanager
def quiet() -> Iterator[None]:
    """Send to nowhere what native code prints, which Python's own streams do not see."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    kept = []
    try:
        for stream in (1, 2):
            with suppress(OSError):  # a closed stream needs no silencing
                kept.append((stream, os.dup(stream)))
                os.dup2(nowhere, stream)
        yield
    finally:
        for stream, copy in kept:
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)


class BulletClient:
    """One world of pybullet: its functions, with the world's number already given."""

    def __init__(self) -> None:
        """Open a world.

        Raises:
            KinetariumError: If too many are open.
        """
        p = load()
        self.number = int(p.connect(p.DIRECT))
        if self.number < 0:
            raise KinetariumError("pybullet takes no more simulations at once; close some first")

    def __getattr__(self, name: str) -> Any:
        """Give a function or constant of pybullet, and keep it for the next time."""
        attribute = getattr(load(), name)
        if callable(attribute):
            attribute = partial(attribute, physicsClientId=self.number)
        setattr(self, name, attribute)
        return attribute

    def bare(self, name: str) -> Any:
        """Give a function as pybullet has it, for loops that feel the difference.

        It takes the world's number as its last argument.
        """
        return getattr(load(), name)
