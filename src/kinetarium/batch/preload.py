"""Loading what all workers need, once, in the server that they are forked off."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress


def preload(engines: Sequence[str]) -> None:
    """Load what a worker needs, and engines; a server that has loaded nothing is only slower.

    An engine that does not load is left to the case that needs it.

    Args:
        engines: Names of engines.
    """
    with suppress(Exception), _quiet():
        import kinetarium.batch.worker_main
        import kinetarium.rollout.loop  # noqa: F401
        from kinetarium.engines.registry import open_engine

        for name in engines:
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
