"""Imported once by the server that workers are forked off, to load what all of them need."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from kinetarium.batch.worker_start import PRELOAD


def preload() -> None:
    """Load what a worker needs, and the engines that the environment names.

    An engine that does not load is left to the case that needs it.
    """
    import kinetarium.batch.worker_main
    import kinetarium.rollout.loop  # noqa: F401
    from kinetarium.engines.registry import open_engine

    for name in os.environ.get(PRELOAD, "").split():
        with suppress(Exception):
            open_engine(name)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what libraries print on being loaded off the terminal."""
    kept = [os.dup(stream) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        yield
    finally:
        for stream, before in zip((1, 2), kept, strict=True):
            os.dup2(before, stream)
            os.close(before)
        os.close(nowhere)


# A server that has loaded nothing serves as well, only slower.
with suppress(Exception), _quiet():
    preload()
