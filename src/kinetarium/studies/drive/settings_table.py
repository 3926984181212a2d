"""What was set in the engines, what they loaded, and what the paper used."""

from collections.abc import Iterable, Sequence
from typing import Any

from kinetarium.figure.listing import Listing
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.table import Column, Table
from kinetarium.recording.recording import Recording
from kinetarium.recording.strict_json import strict_json
from kinetarium.studies.drive.config import CalibrateCase, DriveCase

_PAPER = Table(
    "Simulators and engines",
    (Column("engine"), Column("in the paper"), Column("here")),
    (
        ("MuJoCo", "MuJoCo", "mujoco"),
        ("Bullet", "CoppeliaSim", "pybullet"),
        ("ODE", "CoppeliaSim", "its C interface, double precision"),
        ("PhysX", "Isaac Sim", "SAPIEN, on the CPU; wheels are rows of spheres"),
        ("Newton Dynamics", "CoppeliaSim", "not obtainable from a package registry"),
    ),
)


def settings_section(
    recordings: Sequence[Recording | None], cases: Sequence[DriveCase | CalibrateCase]
) -> Section:
    """Show what every engine was set to in each profile, and what it made of the model.

    Args:
        recordings: The recordings, or None where there is none.
        cases: Their cases.
    """
    facts: dict[tuple[str, str, str], Any] = {}
    tried: dict[tuple[str, str, str, str], dict[float, None]] = {}
    for recording, case in zip(recordings, cases, strict=True):
        if recording is not None:
            key = (case.profile.value, case.engine, case.robot.value)
            facts.setdefault(key, recording.facts)
            for name in ("friction", "timestep_s"):
                tried.setdefault((*key, name), {})[recording.facts[name]] = None
    columns = (
        Column("profile"), Column("engine"), Column("robot"), Column("friction"),
        Column("wheels' gain", "N m s/rad"), Column("track multiplier"), Column("time step", "s"),
        Column("mass error"), Column("joint damping"), Column("armature"), Column("why"),
    )  # fmt: skip
    rows = tuple(
        (*key, _listed(tried[*key, "friction"]), fact["wheel_damping"], fact["multiplier"],
         _listed(tried[*key, "timestep_s"]),
         fact["mass_error"], fact["joint_damping"], fact["armature"], fact["settings"])
        for key, fact in facts.items()
    )  # fmt: skip
    figures: list[Figure] = [
        Table("Settings, and the model as loaded", columns, rows),
        Listing(
            "Options in force",
            tuple(f"{key[0]}, {key[1]} {fact['engine_version']}, {key[2]}:"
                  f" {strict_json(fact['options'], indent=None)}" for key, fact in facts.items()),
        ),
    ]  # fmt: skip
    remarks = dict.fromkeys(
        f"{key[1]}: {text}" for key, fact in facts.items() for text in fact["remarks"]
    )
    if remarks:
        figures.append(Listing("Where engines differ from the model on purpose", tuple(remarks)))
    return Section("Settings", (*figures, _PAPER))


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
