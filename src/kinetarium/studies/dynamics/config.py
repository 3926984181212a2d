"""What the dynamics study is asked, and one case of it."""

from dataclasses import dataclass

from kinetarium.model.findings import Allowance


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
    states: int = 1000
    seed: int = 0
    at: tuple[float, ...] = ()
    at_velocity: tuple[float, ...] = ()
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
    states: int
    seed: int
    at: tuple[float, ...]
    at_velocity: tuple[float, ...]
    mesh_root: tuple[str, ...]
    allow: tuple[Allowance, ...]
