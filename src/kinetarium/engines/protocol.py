"""What every physics engine offers: Engine compiles a Scene into a Simulation."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.audit import Audit
from kinetarium.engines.capability import Capability, FrictionRule
from kinetarium.engines.layout import Layout
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array


class Precision(StrEnum):
    """The floating-point numbers an engine computes with."""

    SINGLE = "single"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine says of itself.

    Attributes:
        name: The name it is chosen by.
        title: The engine's own name.
        version: Version of its library.
        capabilities: What it can do.
        friction_rule: How it combines the friction of unequal surfaces.
        precision: What it computes with.
    """

    name: str
    title: str
    version: str
    capabilities: frozenset[Capability]
    friction_rule: FrictionRule
    precision: Precision = Precision.DOUBLE


class Status(StrEnum):
    """How a simulation is doing."""

    RUNNING = "running"
    DIVERGED = "diverged"


# Not frozen: freezing costs a microsecond a step, and every array in it is a copy anyway.
@dataclass(slots=True, eq=False)
class State:
    """The state of a simulation at one time; every array is a copy.

    Attributes:
        time: Time [s].
        q: Joint positions in the order of `layout.joints` [rad or m], shape (n,).
        v: Joint velocities [rad/s or m/s], shape (n,).
        poses: Position [m] and quaternion wxyz of each of `layout.floating`, shape (f, 7).
        twists: Twist [v; w] of each in the world frame at its own origin
            [m/s, rad/s], shape (f, 6).
    """

    time: float
    q: Array
    v: Array
    poses: Array
    twists: Array


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """The contacts after a step.

    Attributes:
        solids: Indices into `layout.solids` of the two that touch, shape (n, 2).
        points: Where [m], world frame, shape (n, 3).
        normals: Unit normals from the second towards the first, shape (n, 3).
        depths: Penetration, positive when overlapping [m], shape (n,).
        forces: Force on the first by the second [N], world frame, shape (n, 3).
    """

    solids: NDArray[np.int32]
    points: Array
    normals: Array
    depths: Array
    forces: Array


class Simulation(Protocol):
    """A scene inside an engine."""

    @property
    def layout(self) -> Layout:
        """The order of joints, commands, floating solids and all solids."""

    @property
    def status(self) -> Status:
        """Whether the numbers still mean anything."""

    def state(self) -> State:
        """Read the state."""

    def reset(self, state: State) -> None:
        """Set the state and forget contacts and pending wrenches."""

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`."""

    def contacts(self) -> Contacts:
        """Give the contacts of the last step."""

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step."""

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step."""

    def save(self) -> Any:
        """Give everything needed to go on from here."""

    def restore(self, saved: Any) -> None:
        """Go back to where `save` was called."""

    def audit(self) -> Audit:
        """Read back the model as the engine loaded it."""

    def mass_matrix(self, robot: str) -> Array:
        """Give the mass matrix of a robot in Kinetarium's coordinates, as the engine sees it."""

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Give the generalised forces for an acceleration at the present state."""

    def close(self) -> None:
        """Release what the engine holds."""


class Engine(Protocol):
    """A physics engine.

    Attributes:
        options: The engine's own options, a frozen dataclass with a default for each.
    """

    options: type[Any]

    @property
    def info(self) -> EngineInfo:
        """What it is and can do."""

    def compile(
        self, scene: Scene, *, timestep: float, options: Any = None, seed: int = 0
    ) -> Simulation:
        """Build a scene; options are the engine's own dataclass, None for its defaults."""
