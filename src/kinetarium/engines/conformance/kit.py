"""check_engine: every check an engine's capabilities call for, one row each."""

from collections.abc import Callable, Iterable, Iterator

from kinetarium.engines.conformance import (
    bodies,
    drives,
    forces,
    joints,
    model_checks,
    runs,
    surfaces,
)
from kinetarium.engines.conformance.check import Check, ConfiguredEngine, EngineCheck
from kinetarium.engines.protocol import Engine, Options
from kinetarium.engines.registry import open_engine
from kinetarium.interruption import stop_if_requested

CHECKS: tuple[Check, ...] = (
    *bodies.CHECKS,
    *surfaces.CHECKS,
    *joints.CHECKS,
    *drives.CHECKS,
    *model_checks.CHECKS,
    *forces.CHECKS,
    *runs.CHECKS,
)


def check_engine(
    engine: Engine | str,
    *,
    checks: Iterable[Check] = CHECKS,
    options: Options | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> tuple[EngineCheck, ...]:
    """Judge an engine by physics it cannot argue with.

    Runs every check whose capabilities the engine declares. An engine of your
    own is judged the same way as ours.

    Example:
        >>> from kinetarium import check_engine
        >>> [check for check in check_engine("mujoco") if not check.passed]  # doctest: +SKIP
        []

    Args:
        engine: The engine, or the name of one that is installed.
        checks: Which checks to run; all of them by default.
        options: Settings of the engine's own class; None for its defaults.
        progress: Told the name of each check before it runs.

    Returns:
        One row for each check that applies.
    """
    judged = open_engine(engine) if isinstance(engine, str) else engine
    if options is not None:
        judged = ConfiguredEngine(judged, options)
    return tuple(_outcomes(judged, checks, progress))


def _outcomes(
    engine: Engine, checks: Iterable[Check], progress: Callable[[str], None]
) -> Iterator[EngineCheck]:
    for check in checks:
        if not check.needs <= engine.info.capabilities:
            continue
        progress(check.name)
        try:
            measurement = check.measure(engine)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever an engine does wrong is a row, not the end
            stop_if_requested()
            text = f"{type(error).__name__}: {error}"
            yield EngineCheck(engine.info.name, check.name, False, None, text)
        else:
            yield EngineCheck(engine.info.name, check.name, measurement.passed, measurement)
