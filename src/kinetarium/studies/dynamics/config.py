"""What the dynamics study is asked, and one case of it."""

from dataclasses import dataclass
from typing import Annotated

from kinetarium.model.diagnostics import Allowance
from kinetarium.ranges import Range, Seed

States = Annotated[int, Range(1, 100_000, unit="-")]
"""What fits into memory for an arm, with all matrices of all back-ends."""
Positions = Annotated[tuple[float, ...], Range(-1e4, 1e4, unit="rad or m")]
"""Thousands of turns; angles beyond lose digits."""
Velocities = Annotated[tuple[float, ...], Range(-1e4, 1e4, unit="rad/s or m/s")]
"""Faster than any joint; its square still leaves all digits."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A robot whose dynamics are compared.

    Attributes:
        robot: A robot of the catalogue, or a URDF, xacro or MJCF file.
        against: A second robot to compare it with, instead of libraries.
        engine: The engines; all that are available and have inverse dynamics by default.
        states: How many random states to compare at [-].
        seed: Seed of the random states.
        at: Joint positions of a state whose M, g and c are wanted [rad or m].
        at_velocity: Joint velocities at that state [rad/s or m/s]; zero by default.
        mesh_root: Folders that meshes and includes may come from.
        allow: Faults of a robot file to let through.
    """

    robot: str = "two-link"
    against: str = ""
    engine: tuple[str, ...] = ()
    states: States = 1000
    seed: Seed = 0
    at: Positions = ()
    at_velocity: Velocities = ()
    mesh_root: tuple[str, ...] = ()
    allow: tuple[Allowance, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """One robot in one back-end.

    Attributes:
        robot: A robot of the catalogue, or a file.
        backend: The library, "closed-form", or "against" for the second robot.
        sha256: Hash of everything that the robot was read from.
        against: The second robot, or empty.
        against_sha256: Hash of everything that it was read from, or empty.
        states: How many random states to compare at [-].
        seed: Seed of the random states.
        at: Joint positions of a state whose terms are wanted [rad or m].
        at_velocity: Joint velocities at that state [rad/s or m/s]; zero if empty.
        mesh_root: Folders that meshes and includes may come from.
        allow: Faults of a robot file to let through.
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
