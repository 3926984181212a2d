"""The back-ends that a robot is compared in, and opening one by name."""

from collections.abc import Sequence

from kinetarium.engines.protocol import Capability, CapabilityError
from kinetarium.engines.registry import list_engines, open_engine
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends._engine import NEEDED, EngineBackend
from kinetarium.studies.dynamics.backends.backend import Backend
from kinetarium.studies.dynamics.backends.reference import (
    CLOSED_FORM,
    ClosedFormBackend,
    PinocchioBackend,
    has_closed_form,
)

REFERENCE = "pinocchio"
AGAINST = "against"
"""The second robot file, computed by the reference."""


def backend_names(model: RobotModel, *, engines: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the back-ends of a robot: the reference, its closed form, and the engines that fit.

    Args:
        model: The robot.
        engines: The engines to use; all that are available and fit by default.

    Raises:
        KinetariumError: If an engine is unknown, not available or does not fit.
    """
    for name in engines:
        if not open_engine(name).info.capabilities & NEEDED:
            raise CapabilityError(name, Capability.INVERSE_DYNAMICS, reason="this study")
    fitting = [listing.name for listing in list_engines() if listing.capabilities & NEEDED]
    own = (REFERENCE, CLOSED_FORM) if has_closed_form(model) else (REFERENCE,)
    return (*own, *(dict.fromkeys(engines) or fitting))


def open_backend(name: str, model: RobotModel, *, gravity: Array, reference: RobotModel) -> Backend:
    """Return a back-end of a name and hand it a robot.

    Args:
        name: One of `backend_names`, or AGAINST.
        model: The robot.
        gravity: Gravity [m/s^2], shape (3,).
        reference: The robot under study.

    Raises:
        KinetariumError: If no such back-end is known or available.
    """
    if name in (REFERENCE, AGAINST):
        return PinocchioBackend(model, gravity=gravity, reference=reference, name=name)
    if name == CLOSED_FORM:
        return ClosedFormBackend(model)
    return EngineBackend(open_engine(name), model, gravity=gravity, reference=reference)
