"""The backends: opening one by name, or matched with the reference."""

from collections.abc import Sequence
from dataclasses import dataclass

from kinetarium.engines.protocol import Capability, CapabilityError
from kinetarium.engines.registry import list_engines, open_engine
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends._engine import NEEDED, EngineBackend
from kinetarium.studies.dynamics.backends.backend import Backend, InOrder, with_joints
from kinetarium.studies.dynamics.backends.reference import (
    CLOSED_FORM,
    ClosedFormBackend,
    PinocchioBackend,
    has_closed_form,
)
from kinetarium.studies.dynamics.differences.audit import Audited, audit_differences
from kinetarium.studies.dynamics.differences.model import model_differences
from kinetarium.studies.dynamics.finding import Difference
from kinetarium.studies.dynamics.override import GRAVITY, Override

REFERENCE = "pinocchio"
AGAINST = "against"
"""The second robot file, computed by the reference."""


def backend_names(model: RobotModel, *, engines: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the backends of a robot: the reference, its closed form, and suitable engines.

    Args:
        engines: The engines to use; all available suitable ones by default.

    Raises:
        KinetariumError: If an engine is unknown, not available or not suitable.
    """
    for name in engines:
        if not open_engine(name).info.capabilities & NEEDED:
            raise CapabilityError(name, Capability.INVERSE_DYNAMICS, reason="this study")
    fitting = [listing.name for listing in list_engines() if listing.capabilities & NEEDED]
    own = (REFERENCE, CLOSED_FORM) if has_closed_form(model) else (REFERENCE,)
    return (*own, *(dict.fromkeys(engines) or fitting))


def open_backend(name: str, model: RobotModel, *, gravity: Array, reference: RobotModel) -> Backend:
    """Return a backend with a robot.

    Args:
        name: One of `backend_names`, or AGAINST.
        gravity: Gravity [m/s^2], shape (3,).
        reference: The robot under study.

    Raises:
        KinetariumError: If the backend is unknown or not available.
    """
    if name in (REFERENCE, AGAINST):
        return PinocchioBackend(model, gravity=gravity, reference=reference, name=name)
    if name == CLOSED_FORM:
        return ClosedFormBackend(model)
    return EngineBackend(open_engine(name), model, gravity=gravity, reference=reference)


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """A backend and the reference, with the same joints.

    Attributes:
        model: The robot under study; joints that the other lacks are fixed.
        given: The robot in the backend, its joints likewise.
        gravity: Gravity in the backend [m/s^2], shape (3,).
        reference: The reference.
        backend: The backend, its joints in the order of the reference.
        audited: The result of its audit.
    """

    model: RobotModel
    given: RobotModel
    gravity: Array
    reference: PinocchioBackend
    backend: Backend
    audited: Audited


def match(
    name: str, model: RobotModel, *, override: Override, against: RobotModel | None
) -> Matched:
    """Open a backend and the reference.

    Args:
        name: Name of the backend.
        model: The robot under study.
        override: Properties to change in the backend.
        against: The second robot file, or None to compare backends.

    Raises:
        KinetariumError: If the two have no moving joint in common.
    """
    found: tuple[Difference, ...] = ()
    if against is None:
        given = override.applied(model)
    else:
        compared = model_differences(model, against)
        given, found = compared.other, compared.differences
    shared = _shared(model, given)
    if not shared:
        raise KinetariumError(f"robot '{model.name}' has no moving joint to compare")
    held, other = with_joints(model, shared), with_joints(given, shared)
    backend = open_backend(name, other, gravity=override.gravity, reference=held)
    if against is None:
        whole = open_backend(name, given, gravity=override.gravity, reference=model)
        audited = audit_differences(
            model, whole.audit(), gravity=GRAVITY, tolerance=max(1e-9, backend.tolerance)
        )
        whole.close()
    else:
        audited = Audited(found, other, GRAVITY)
    joints = tuple(joint.name for joint in held.moving_joints)
    return Matched(
        model=held,
        given=other,
        gravity=override.gravity,
        reference=PinocchioBackend(held, gravity=GRAVITY, reference=held),
        backend=backend if backend.joints == joints else InOrder(backend, joints),
        audited=audited,
    )


def _shared(model: RobotModel, other: RobotModel) -> tuple[str, ...]:
    """Return the joints that both have and that are rotational, or prismatic, in both."""
    slides = {joint.name: joint.type is JointType.PRISMATIC for joint in other.moving_joints}
    return tuple(
        joint.name
        for joint in model.moving_joints
        if slides.get(joint.name) is (joint.type is JointType.PRISMATIC)
    )
