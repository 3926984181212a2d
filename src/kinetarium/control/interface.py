"""What drives a robot: controllers at their own rate, interactions at every physics step."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What a controller may look at.

    Attributes:
        q: Joint positions in layout order [rad or m], shape (n,).
        v: Joint velocities [rad/s or m/s], shape (n,).
        poses: Position [m] and quaternion wxyz of the floating solids, shape (f, 7).
        twists: Their twists [v; w] in the world frame, shape (f, 6).
        wrenches: Readings of the force-torque sensors by name [N, N m], shape (6,) each.
    """

    q: Array
    v: Array
    poses: Array
    twists: Array
    wrenches: Mapping[str, Array]


class Controller(Protocol):
    """Turns measurements into commands."""

    @property
    def rate(self) -> float:
        """How often it is asked [Hz]; the physics rate is a multiple of it."""

    def reset(self) -> None:
        """Forget everything."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the command at a time [s], in the order of the layout's commands, shape (c,)."""


@dataclass(frozen=True, slots=True, eq=False)
class ExternalWrench:
    """A wrench on a solid from outside the engine.

    Attributes:
        solid: The solid's name.
        F_W: Wrench [f; m] in world axes [N, N m], shape (6,).
        point: Where it acts, in the world [m], shape (3,).
    """

    solid: str
    F_W: Array
    point: Array


class Interaction(Protocol):
    """A law that acts at every physics step: a prescribed contact, a disturbance."""

    def update(self, t: float, measurement: Measurement) -> Iterable[ExternalWrench]:
        """Return the wrenches of the next step."""
