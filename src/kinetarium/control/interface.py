"""Controllers, called at their own rate, and interactions, called at every physics step."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """The input of a controller.

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
    """Computes commands from measurements.

    Example:
        >>> import numpy as np
        >>> from kinetarium import run
        >>> from kinetarium.scene import driving_ground
        >>> class Forwards:
        ...     rate = 100.0
        ...
        ...     def reset(self):
        ...         pass
        ...
        ...     def update(self, t, measurement):
        ...         return np.full(4, 2.0)  # [rad/s] of each wheel
        >>> recording = run(
        ...     driving_ground("husky4"), engine="mujoco", duration=0.5, controller=Forwards()
        ... )
        >>> bool(recording["poses"][-1, 0, 0] > 0.05)
        True
    """

    @property
    def rate(self) -> float:
        """Control rate [Hz]; the physics rate is a multiple of it."""

    def reset(self) -> None:
        """Clear all state, before a run."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the command at a time [s], in the order of the layout's commands, shape (c,)."""


@dataclass(frozen=True, slots=True, eq=False)
class ConstantCommand:
    """A controller that always commands the same, such as the home pose of servos.

    Attributes:
        command: The command, shape (c,).
        rate: How often it is asked [Hz].
    """

    command: Array
    rate: float = 100.0

    def reset(self) -> None:
        """Do nothing: it has no state."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the command."""
        return self.command


@dataclass(frozen=True, slots=True, eq=False)
class CommandSequence:
    """A controller that plays back commands, whatever happens: open loop.

    Attributes:
        commands: The commands from time zero on, shape (n, c); the last one lasts.
        rate: How many of them a second has [Hz].
    """

    commands: Array
    rate: float = 100.0

    def reset(self) -> None:
        """Do nothing: it has no state."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the command at a time [s]."""
        last = len(self.commands) - 1
        command: Array = self.commands[min(max(round(t * self.rate), 0), last)]
        return command


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
    """A law that acts at every physics step: a prescribed contact, a disturbance.

    Example:
        >>> import numpy as np
        >>> from kinetarium import Scene, run
        >>> from kinetarium.control import ExternalWrench
        >>> from kinetarium.model import Sphere
        >>> from kinetarium.scene import free_body
        >>> class Lift:
        ...     def update(self, t, measurement):
        ...         force = np.array([0.0, 0.0, 2 * 9.81, 0.0, 0.0, 0.0])
        ...         return [ExternalWrench("ball", force, measurement.poses[0, :3])]
        >>> scene = Scene(bodies=(free_body("ball", Sphere(0.1), mass=1.0),))
        >>> recording = run(scene, engine="mujoco", duration=1.0, interactions=[Lift()])
        >>> round(float(recording["twists"][-1, 0, 2]), 2)  # twice its weight, upwards [m/s]
        9.81
    """

    def update(self, t: float, measurement: Measurement) -> Iterable[ExternalWrench]:
        """Return the wrenches of the next step."""
