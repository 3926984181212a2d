"""Config and case of the dynamics study."""

from dataclasses import dataclass
from typing import Annotated

from kinetarium.model.diagnostics import Allowance, Leniency
from kinetarium.ranges import Range, Seed

States = Annotated[int, Range(1, 100_000, unit="-")]
"""What fits into memory for an arm, with all matrices of all backends."""
Positions = Annotated[tuple[float, ...], Range(-1e4, 1e4, unit="rad or m")]
"""Thousands of turns; larger angles lose precision."""
Velocities = Annotated[tuple[float, ...], Range(-1e4, 1e4, unit="rad/s or m/s")]
"""Faster than any joint; its square is still exact to all digits."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The robot and the libraries to compare.

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
        mesh_root: Folders from which meshes and includes may be read.
        allow: Faults of a robot file to tolerate.
        lenient: Faults of form, and parts that no model has, to let through and list.
        root: Name of the body that is the robot, in an MJCF file with several.
    """

    robot: str = "two-link"
    against: str = ""
    loaders: bool = False
    engine: tuple[str, ...] = ()
    states: States = 1000
    seed: Seed = 0
    at: Positions = ()
    at_velocity: Velocities = ()
    mesh_root: tuple[str, ...] = ()
    allow: tuple[Allowance, ...] = ()
    lenient: tuple[Leniency, ...] = ()
    root: str = ""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One robot in one backend; other values are those of the config.

    Attributes:
        backend: The library, "closed-form", or "against" for the second robot.
        sha256: Hash of all files of the robot.
        against_sha256: Hash of all files of the second robot, or empty.
        allow: All faults to tolerate.
        loaders: Whether the backend's own loader reads the robot file.
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
    mesh_root: tuple[str, ...]
    allow: tuple[Allowance, ...]
    loaders: bool = False
    root: str = ""
