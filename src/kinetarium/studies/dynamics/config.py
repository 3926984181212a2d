"""Config and case of the dynamics study."""

from dataclasses import dataclass, field, fields
from typing import Annotated, get_args

from kinetarium.model.diagnostics import Allowance, Leniency
from kinetarium.ranges import Range, Seed
from kinetarium.roles.options import RoleOptions

States = Annotated[int, Range(1, 100_000, unit="-")]
"""What fits into memory for an arm, with all matrices of all backends."""
Positions = Annotated[tuple[float, ...], Range(-1e4, 1e4, unit="rad or m")]
"""Thousands of turns; larger angles lose precision."""
Velocities = Annotated[tuple[float, ...], Range(-1e4, 1e4, unit="rad/s or m/s")]
"""Faster than any joint; its square is still exact to all digits."""


@dataclass(frozen=True, kw_only=True)
class Config(RoleOptions):
    """The robot and the libraries to compare; its root is held, or moves in a plane.

    Attributes:
        robot: Name of a robot in the catalogue, or a URDF, xacro or MJCF file.
        against: Compare with this second robot instead of with other libraries.
        loaders: Compare with what the engines' own loaders make of the file instead.
        engine: Engines to compare; all available ones with inverse dynamics, or with a loader of
            robot files, by default.
        states: Number of random states at which to compare [-].
        seed: Seed of the random states.
        at: Joint positions of a state at which to print M, g and c [rad or m].
        at_velocity: Joint velocities of that state [rad/s or m/s]; zero by default.
        allow: Faults of a robot file to tolerate, as by the flags --allow-NAME and --lenient.
    """

    robot: str = "two-link"
    against: str = ""
    loaders: bool = False
    engine: tuple[str, ...] = ()
    states: States = 1000
    seed: Seed = 0
    at: Positions = ()
    at_velocity: Velocities = ()
    allow: tuple[Allowance, ...] = ()

    @property
    def reading(self) -> RoleOptions:
        """How the robot is read, with all that is allowed."""
        own = {each.name: getattr(self, each.name) for each in fields(RoleOptions)}
        forms = [each for each in get_args(Leniency) if each in self.allow]
        own["lenient"] = tuple(dict.fromkeys((*self.lenient, *forms)))
        for each in self.allow:
            if each not in forms:
                own[f"allow_{each.replace('-', '_')}"] = True
        return RoleOptions(**own)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One robot in one backend; other values are those of the config.

    Attributes:
        backend: The library, "closed-form", or "against" for the second robot.
        sha256: Hash of the robot's files, base and roles; with loaders, of its files.
        against_sha256: That of the second robot, or empty.
        reading: How the robots are read; the root of MJCF and the roles are those of the first.
        loaders: Whether the backend's own loader reads the robot file.
        mesh_root, allow, root: How the robot was read in folders of earlier releases.
    """

    robot: str
    backend: str
    sha256: str
    against: str
    against_sha256: str
    states: States
    seed: Seed
    at: Positions
    at_velocity: Velocities
    reading: RoleOptions = field(default_factory=RoleOptions)
    loaders: bool = False
    mesh_root: tuple[str, ...] = ()
    allow: tuple[Allowance, ...] = ()
    root: str = ""
