"""What every physics engine offers: Engine compiles a Scene into a Simulation."""

from collections.abc import Sequence
from dataclasses import Field, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Inertia, LoopKind, RobotModel
from kinetarium.scene import Actuation, Base, DriveMode, Motion, Scene
from kinetarium.spatial.arrays import Array


class Capability(StrEnum):
    """One thing an engine may be able to do."""

    JOINTS = "joints"
    """Robots whose joints move, with their drives, limits and losses."""
    CONTACT = "contact"
    """Solids that touch push each other apart and rub."""
    MESHES = "meshes"
    """Contact of triangle meshes, each as its convex hull."""
    CONTACT_FORCES = "contact-forces"
    """Contacts come with the force between the two solids."""
    FRICTION_FORCES = "friction-forces"
    """The forces of contacts contain friction, not their normal part alone."""
    JOINT_WRENCH = "joint-wrench"
    """Force-torque sensors in joints."""
    EXTERNAL_WRENCH = "external-wrench"
    """Forces and torques applied to any solid from outside."""
    SPRINGS = "springs"
    """Springs in joints."""
    MIMIC = "mimic"
    """Coupled joints."""
    CLOSED_LOOPS = "closed-loops"
    """Loop constraints of the model."""
    FREE_BASE = "free-base"
    """Robots whose root is not held."""
    SAVE_RESTORE = "save-restore"
    """A restored run continues exactly as the saved one."""
    MASS_MATRIX = "mass-matrix"
    """The joint-space mass matrix as the engine sees it."""
    INVERSE_DYNAMICS = "inverse-dynamics"
    """The engine's own inverse dynamics."""
    DETERMINISM = "determinism"
    """The same scene and commands give the same bits, in every process."""
    RESTITUTION = "restitution"
    """Impacts that bounce by the materials' restitution."""
    SPINNING_FRICTION = "spinning-friction"
    """Contacts that resist spinning about their normal by the materials' spinning friction."""
    ROLLING_FRICTION = "rolling-friction"
    """Contacts that resist rolling by the materials' rolling friction."""
    MASS_RATIOS = "mass-ratios"
    """A body carries another of a thousand times its mass."""
    SOLVER_REPORT = "solver-report"
    """The solver says how many iterations a step took."""


class FrictionRule(StrEnum):
    """How the friction of two unequal surfaces combines."""

    MAXIMUM = "maximum"
    AVERAGE = "average"
    GEOMETRIC_MEAN = "geometric-mean"
    MINIMUM = "minimum"

    def combine(self, a: float, b: float) -> float:
        """Return the friction between surfaces of friction a and b [-]."""
        match self:
            case FrictionRule.MAXIMUM:
                return max(a, b)
            case FrictionRule.AVERAGE:
                return (a + b) / 2
            case FrictionRule.GEOMETRIC_MEAN:
                return float((a * b) ** 0.5)
            case FrictionRule.MINIMUM:
                return min(a, b)


class CapabilityError(KinetariumError):
    """An engine was asked for something it cannot do."""

    def __init__(self, engine: str, capability: Capability, *, reason: str = "") -> None:
        """Name the engine, what it cannot do, and why it was needed.

        Args:
            engine: The engine's name.
            capability: What it cannot do.
            reason: What needs it.
        """
        needed = f", which {reason} needs" if reason else ""
        super().__init__(f"engine '{engine}' has no {capability}{needed}")


class NotFiniteError(KinetariumError):
    """A number given to a simulation is infinite or not a number; the simulation is unchanged."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadedSolid:
    """A moving solid as loaded; links fixed together count as the topmost of them.

    Attributes:
        name: Its name in the scene.
        inertia: Mass, centre and moment in the frame of that link or body.
        members: The links it stands for.
    """

    name: str
    inertia: Inertia
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedJoint:
    """A moving joint as loaded.

    Attributes:
        name: "robot/joint".
        axis: Axis in the child link's frame, shape (3,).
        damping: Viscous damping [N m s/rad or N s/m].
        friction: Coulomb friction [N m or N].
        armature: Drive inertia [kg m^2 or kg].
        lower: Lowest position [rad or m].
        upper: Highest position [rad or m].
        X_PJ: Pose of its frame at position zero in the frame of the link above, the topmost of
            those fixed together, shape (4, 4); None if it is not reported.
        read_back: As in `LoadedDrive`.
    """

    name: str
    axis: Array
    damping: float
    friction: float
    armature: float
    lower: float
    upper: float
    X_PJ: Array | None = None
    read_back: bool = True


@dataclass(frozen=True, slots=True)
class LoadedDrive:
    """The drive of a joint as loaded.

    Attributes:
        joint: "robot/joint".
        mode: What its command means.
        stiffness: Of a position servo [N m/rad or N/m], otherwise zero.
        damping: Of a servo [N m s/rad or N s/m], zero of a torque drive.
        effort: Highest torque or force [N m or N].
        read_back: Whether all values were read back from the engine; otherwise some are values
            that the adapter applies itself, or has set and cannot read back.
    """

    joint: str
    mode: DriveMode
    stiffness: float
    damping: float
    effort: float
    read_back: bool = True


@dataclass(frozen=True, slots=True)
class LoadedCoupling:
    """A mimic joint as loaded: position = multiplier * position of the leader + offset.

    Attributes:
        joint: The follower, "robot/joint".
        leader: The leader, "robot/joint".
        multiplier: Ratio [-, or rad/m between different kinds].
        offset: Position at the leader's zero [rad or m].
        read_back: As in `LoadedDrive`.
    """

    joint: str
    leader: str
    multiplier: float
    offset: float
    read_back: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class LoadedLoop:
    """A loop constraint as loaded.

    Attributes:
        name: "robot/loop".
        kind: Whether it holds two points or two frames together.
        solids: The two that it ties, each the topmost of the links fixed together.
        points: The points that coincide [m], each in the frame of its solid, shape (2, 3); for
            frames, any pair of points that coincide.
        R_AB: Rotation of the second solid in the first, shape (3, 3); None for points.
        read_back: As in `LoadedDrive`.
    """

    name: str
    kind: LoopKind
    solids: tuple[str, str]
    points: Array
    R_AB: Array | None = None
    read_back: bool = True


@dataclass(frozen=True, slots=True)
class LoadedSurface:
    """The surface of a solid as loaded; several if its shapes differ.

    Attributes:
        solid: Its name in the scene.
        friction: Coulomb coefficient [-].
        restitution: Normal speed after an impact over that before [-].
        against: The solids for which these are the values of the pair; empty for the solid's own
            values, which the engine combines with those of the other solid.
        read_back: As in `LoadedDrive`.
    """

    solid: str
    friction: float
    restitution: float
    against: tuple[str, ...] = ()
    read_back: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What an engine loaded.

    Attributes:
        solids: The moving solids.
        joints: The moving joints.
        gravity: Gravity [m/s^2], shape (3,).
        remarks: Where the engine's model differs from the scene on purpose, in words.
        drives: The drives in the order of `Layout.commands`. This and the following fields are
            None if they are not reported.
        couplings: The mimic joints.
        loops: The loop constraints.
        surfaces: The surfaces of all solids that may touch something.
    """

    solids: tuple[LoadedSolid, ...]
    joints: tuple[LoadedJoint, ...]
    gravity: Array
    remarks: tuple[str, ...] = ()
    drives: tuple[LoadedDrive, ...] | None = None
    couplings: tuple[LoadedCoupling, ...] | None = None
    loops: tuple[LoadedLoop, ...] | None = None
    surfaces: tuple[LoadedSurface, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Names in array order.

    Attributes:
        joints: All moving joints, "robot/joint", in each model's own order.
        commands: The driven joints, "robot/joint".
        command_joints: Index into `joints` of each command, shape (c,).
        actuations: The drive of each command, its effort limit filled in from the model.
        floating: Solids that fly freely: roots of free robots, then free bodies.
        solids: All solids, as in the scene.
        robot_joints: The part of `joints` that belongs to each robot, by name.
    """

    joints: tuple[str, ...]
    commands: tuple[str, ...]
    command_joints: NDArray[np.intp]
    actuations: tuple[Actuation, ...]
    floating: tuple[str, ...]
    solids: tuple[str, ...]
    robot_joints: dict[str, slice]

    @classmethod
    def of(cls, scene: Scene) -> "Layout":
        """Lay out a scene."""
        joints: list[str] = []
        commands: list[str] = []
        actuations: list[Actuation] = []
        robot_joints: dict[str, slice] = {}
        for robot in scene.robots:
            start = len(joints)
            for joint in robot.model.moving_joints:
                name = f"{robot.name}/{joint.name}"
                joints.append(name)
                actuation = robot.actuation.get(joint.name, Actuation(DriveMode.PASSIVE))
                if actuation.drive is not DriveMode.PASSIVE:
                    commands.append(name)
                    effort = min(actuation.effort, joint.limits.effort)
                    actuations.append(
                        Actuation(actuation.drive, actuation.stiffness, actuation.damping, effort)
                    )
            robot_joints[robot.name] = slice(start, len(joints))
        roots = [f"{r.name}/{r.model.root}" for r in scene.robots if r.base is Base.FREE]
        free = [body.name for body in scene.bodies if body.motion is Motion.FREE]
        index = {name: i for i, name in enumerate(joints)}
        return cls(
            joints=tuple(joints),
            commands=tuple(commands),
            command_joints=np.array([index[name] for name in commands], dtype=np.intp),
            actuations=tuple(actuations),
            floating=(*roots, *free),
            solids=scene.solids,
            robot_joints=robot_joints,
        )

    def drives(self, robot: str) -> list[tuple[int, int, Actuation]]:
        """Return the driven joints of a robot: command, place among its joints, and drive."""
        own = self.robot_joints[robot]
        drives = zip(self.command_joints.tolist(), self.actuations, strict=True)
        return [
            (command, joint - own.start, actuation)
            for command, (joint, actuation) in enumerate(drives)
            if own.start <= joint < own.stop
        ]


class Precision(StrEnum):
    """The floating-point numbers an engine computes with."""

    SINGLE = "single"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """The description of an engine.

    Attributes:
        name: The name it is chosen by.
        title: The engine's own name.
        version: Version of its library.
        capabilities: What it can do.
        friction_rule: How it combines the friction of unequal surfaces.
        precision: What it computes with.
        implicit_coriolis: Whether it takes Coriolis forces at the end of a step, so that an
            acceleration differs from that at the start by a share that vanishes with the step.
        unexplained: Share of the generalised forces in a step of 2 ms that the reported contacts
            may leave unexplained [-].
        unexplained_reason: Why that is more than rounding and the tolerance of a solver.
    """

    name: str
    title: str
    version: str
    capabilities: frozenset[Capability]
    friction_rule: FrictionRule
    precision: Precision = Precision.DOUBLE
    implicit_coriolis: bool = False
    unexplained: float = 1e-5
    unexplained_reason: str = ""


@dataclass(frozen=True, slots=True)
class SolverReport:
    """How hard a step was for the solver.

    Attributes:
        iterations: Most iterations that a part of the scene took.
        limit: Most iterations that it may take; at the limit it has not converged.
    """

    iterations: int
    limit: int


class Status(StrEnum):
    """Whether a simulation has diverged."""

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


NO_CONTACTS = Contacts(
    np.zeros((0, 2), dtype=np.int32),
    np.zeros((0, 3)),
    np.zeros((0, 3)),
    np.zeros(0),
    np.zeros((0, 3)),
)
"""Of a simulation that has not been stepped."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedState:
    """A saved state; only the simulation that saved it can restore it.

    Attributes:
        owner: The simulation.
        content: Everything needed to continue from there; its format is private to the owner.
    """

    owner: object
    content: object


class Simulation(Protocol):
    """A scene inside an engine.

    Bad input is refused with a KinetariumError that names it and leaves the simulation as it is:
    unknown names, arrays of a wrong shape, numbers that are not finite, a foreign saved state.

    Example:
        >>> import numpy as np
        >>> from kinetarium.engines import open_engine
        >>> from kinetarium.scene import arm_with_cube
        >>> simulation = open_engine("mujoco").compile(arm_with_cube(), timestep=1e-3)
        >>> simulation.step(np.zeros(len(simulation.layout.commands)), 100)
        >>> round(simulation.state().time, 6)
        0.1
        >>> simulation.close()
    """

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
        """Return the contacts of the last step."""

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step."""

    def solver(self) -> SolverReport:
        """Return how hard the last step was for the solver."""

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step."""

    def save(self) -> SavedState:
        """Return everything needed to continue from the current state."""

    def restore(self, saved: SavedState) -> None:
        """Restore a state that `save` returned on this simulation."""

    def audit(self) -> Audit:
        """Read back the model as the engine loaded it."""

    def mass_matrix(self, robot: str) -> Array:
        """Return the mass matrix of a robot in Kinetarium's coordinates, as the engine sees it."""

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Return the generalised forces for an acceleration at the present state."""

    def close(self) -> None:
        """Release what the engine holds."""


class Options(Protocol):
    """Settings of an engine: a frozen dataclass with a default for every field.

    The defaults are the converged settings that compare fairly.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def stock(cls) -> Self:
        """Return the engine as its authors ship it."""

    def with_iterations(self, n: int) -> Self:
        """Return a copy whose solver iterates n times; for 0 or without iterations, the same."""


@dataclass(frozen=True, slots=True, eq=False)
class RobotAsRead:
    """A robot as the own loader of an engine's library reads its file.

    Attributes:
        model: Its links and joints, parents before children.
        couplings: The number of its mimic joints, if the library tells no more of them; None if
            they are in the model.
        remarks: What the loader does to every file, in words.
    """

    model: RobotModel
    couplings: int | None = None
    remarks: tuple[str, ...] = ()


class NotComparableError(KinetariumError):
    """A robot that a library reads with parts that a RobotModel does not have."""


@runtime_checkable
class RobotReader(Protocol):
    """An engine whose library reads robot files itself."""

    def read_robot(self, file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
        """Read a file as a user of the library does, with its defaults.

        Args:
            packages: Folders in which `package://` addresses are looked up, if the library asks.

        Raises:
            NotComparableError: If what the library reads does not fit into a model.
            KinetariumError: If the library refuses the file, with its reason.
        """


class Engine(Protocol):
    """A physics engine.

    Example:
        >>> from kinetarium.engines import open_engine
        >>> engine = open_engine("mujoco")
        >>> engine.info.title, str(engine.info.friction_rule)
        ('MuJoCo', 'maximum')
    """

    @property
    def options(self) -> type[Options]:
        """The class of its options."""

    @property
    def info(self) -> EngineInfo:
        """What it is and can do."""

    def compile(
        self, scene: Scene, *, timestep: float, options: Options | None = None, seed: int = 0
    ) -> Simulation:
        """Build a scene; options are of the engine's own class, None for its defaults."""
