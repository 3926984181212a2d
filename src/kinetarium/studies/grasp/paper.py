"""What the paper measured, to stand beside ours; never to judge by.

Lee, Yoon, Park, Park, "Performance evaluation of robotic physics engine for mobile
manipulator simulation", 2023: Tables 1 and 2.
"""

from collections.abc import Sequence

from kinetarium.figure.cell import Cell
from kinetarium.figure.table import Column, Table
from kinetarium.studies.grasp.config import Profile, ToolPath
from kinetarium.studies.grasp.groups import Group

_PATHS = (ToolPath.CIRCLE, ToolPath.SQUARE, ToolPath.EIGHT)
VARIANCE: dict[str, tuple[float, float, float]] = {
    "mujoco": (7.19e-5, 1.67e-3, 1.96e-3),
    "bullet": (0.189, 0.174, 0.186),
    "ode": (2.31, 2.23, 2.33),
}
"""Average moving variance on circle, square and eight [N^2] (Table 2)."""


def table_1() -> Table:
    """Give the simulators and engines of the paper, and how the engines are run here."""
    return Table(
        "Simulators and engines: the paper's and ours (its Table 1)",
        (Column("engine"), Column("the paper's simulator"), Column("here")),
        (
            ("MuJoCo", "MuJoCo", "its own library"),
            ("Bullet", "CoppeliaSim", "pybullet"),
            ("ODE", "CoppeliaSim", "its C interface"),
            ("Newton Dynamics", "CoppeliaSim", "not in the package registries"),
            ("PhysX", "IsaacSim", "SAPIEN, on the CPU"),
        ),
    )


def table_2(groups: Sequence[Group]) -> Table:
    """Put the paper's average moving variances beside ours.

    Args:
        groups: What was measured; the median of the starts is shown.
    """
    rows: list[tuple[Cell, ...]] = []
    measured = {(g.case.engine, g.case.profile, g.case.path): g for g in groups}
    for engine, values in VARIANCE.items():
        rows.append((engine, "paper", *values))
        rows += _ours(engine, measured)
    rows.append(("newton dynamics", "paper: force saturated", None, None, None))
    rows.append(("physx", "paper: sensor failed", None, None, None))
    for engine in dict.fromkeys(engine for engine, *_ in measured if engine not in VARIANCE):
        rows += _ours(engine, measured)
    least = [_least(groups, path) for path in _PATHS]
    rows.append(("rigid grasp", "matched law", *least))
    return Table(
        "Average moving variance of the contact force (the paper's Table 2)",
        (Column("engine"), Column("source"), *(Column(str(path), "N²") for path in _PATHS)),
        tuple(rows),
    )


def _ours(
    engine: str, measured: dict[tuple[str, Profile, ToolPath], Group]
) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for profile in dict.fromkeys(key[1] for key in measured if key[0] == engine):
        found = [measured.get((engine, profile, path)) for path in _PATHS]
        values = [group.median("moving_variance_n2") if group else None for group in found]
        rows.append((engine, str(profile), *values))
    return rows


def _least(groups: Sequence[Group], path: ToolPath) -> float | None:
    values = [
        group.median("ideal_variance_n2")
        for group in groups
        if group.case.path is path and group.case.profile is Profile.MATCHED
    ]
    return next((value for value in values if value is not None), None)
