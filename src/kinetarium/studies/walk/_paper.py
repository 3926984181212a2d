"""The paper's tables and scenes, computed by this program."""

from dataclasses import dataclass
from math import cos, radians, sin, tan

import numpy as np

from kinetarium.figure.page import Figure, Section
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.scene_replay import machine_meshes
from kinetarium.figure.text import Column, Prose, Table, header
from kinetarium.legs import TABLE_1, GaitTiming, Heading, LegKind, Machine, WalkPlan
from kinetarium.legs.mechanism.machine import LINK_NAMES
from kinetarium.legs.walk.plan import table1_row
from kinetarium.legs.walk.planner import judge_all_orders
from kinetarium.legs.walk.route import lay_route
from kinetarium.spatial.arrays import Array

HEADING = radians(-9.858)
"""Rotation of the body [rad]."""
MOVE = (62.8 / 2, 62.8 / 2 * tan(HEADING))
"""Translation [unit]: the paper's (515.8, 480.0) to (578.6, 469.1) at its scale of 2."""
LIFT = -1.0
"""Vertical joint value of a lifted leg."""
_MACHINE = Machine()
_EARLY = (0, 3)
_PICTURES = (
    ("a", ()),
    ("b", ((1, 0.5),)),
    ("c", ((1, 1.0),)),
    ("d", ((4, 0.5),)),
    ("e", ((4, 1.0),)),
    ("f", ((3, 0.0), (2, 0.0))),
    ("g", ((3, 0.5),)),
    ("h", ((3, 1.0),)),
    ("i", ((2, 0.5),)),
    ("k", ((2, 1.0),)),
)
"""Letter of each picture, and for the captioned legs the completed share of their swing."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture of Fig. 12.

    Attributes:
        letter: Its letter.
        captions: Leg, h_x, h_y and v_z as printed under it.
        body: x, y [unit] and heading [rad] of the body, shape (3,).
        joints: Joint values of all legs, x forward, shape (4, 3).
    """

    letter: str
    captions: tuple[tuple[int, float, float, float], ...]
    body: Array
    joints: Array


def printed_values(*, legacy: bool) -> Array:
    """Return h_x and h_y of legs 1 to 4 at the end or, for 2 and 3, the start of their swing.

    Args:
        legacy: As printed in the paper; else the correct ones.

    Returns:
        The values, x backwards, shape (4, 2).
    """
    values: Array = _offsets(legacy=legacy) / _MACHINE.gain * np.array([-1.0, 1.0])
    return values


def slips() -> Array:
    """Return the slip of the feet of legs 1 to 4 in the paper's walk [unit], shape (4,)."""
    return np.asarray(np.linalg.norm(_offsets(legacy=True) - _offsets(legacy=False), axis=1))


def pictures(*, legacy: bool) -> tuple[Picture, ...]:
    """Return the pictures (a) to (k).

    Args:
        legacy: As printed in the paper; else the correct ones.
    """
    offsets = _offsets(legacy=legacy) / _MACHINE.gain
    shown = []
    done = np.zeros(4)
    for letter, legs in _PICTURES:
        moved = letter >= "f"
        captions = []
        lifted = np.zeros(4)
        for leg, part in legs:
            i = leg - 1
            done[i] = part
            lifted[i] = LIFT if part == 0.5 else 0.0
        joints = np.zeros((4, 3))
        for i in range(4):
            early = i in _EARLY
            # Early legs swing before the body moves, late ones after it.
            share = done[i] * (not moved) if early else (1 - done[i]) * moved
            joints[i, :2] = share * offsets[i]
            joints[i, 2] = lifted[i]
        for leg, _ in legs:
            x, y, v = joints[leg - 1].tolist()
            captions.append((leg, -x + 0.0, y, v))
        body = np.array([*MOVE, HEADING]) if moved else np.zeros(3)
        shown.append(Picture(letter, tuple(captions), body, joints))
    return tuple(shown)


def _offsets(*, legacy: bool) -> Array:
    """Return the displacement of each foot from its rest position, body frame, shape (4, 2)."""
    c, s = np.cos(HEADING), np.sin(HEADING)
    R = np.array([[c, -s], [s, c]])
    t = _MACHINE.neutral_feet[:, :2]
    p = np.array(MOVE) + t @ (R - np.eye(2)).T
    late = -p if legacy else -p @ R
    return np.where(np.isin(np.arange(4), _EARLY)[:, np.newaxis], p, late)


_UNIT = 0.01
_SPACING = (1.1, 1.2)
"""Distance between the robots of one picture along x and y [m]."""
# Printed as (-2.18, 21.83) and (1.96, -24.54): x points backwards, and legs slide outward.
_FIGURE_13 = ((1, (2.18, -21.83, 0.0)), (4, (-1.96, 24.54, 0.0)))
_FIGURE_14 = ((2, (-2.84, radians(-5.83), -1.0)), (4, (-5.82, radians(18.76), 0.0)))
_DIRECTIONS = {
    "forward and right": (1.0, -0.5),
    "forward and left": (1.0, 0.5),
    "back and right": (-1.0, -0.5),
    "back and left": (-1.0, 0.5),
}


def paper_sections() -> tuple[Section, ...]:
    """Return Tables 1 to 5 and Figs. 12 to 14."""
    return (
        Section("The paper's walks", (*_figure_12(), *_scenes()), "Figs. 12 to 14"),
        Section("The paper's tables", _tables(), "Tables 1 to 5"),
    )


def _figure_12() -> tuple[Figure, ...]:
    machine = Machine()
    bodies: list[Mesh3D] = []
    rows = []
    for i, picture in enumerate(pictures(legacy=True)):
        x, y, heading = picture.body * [_UNIT, _UNIT, 1.0]
        shift = (i % 5 * _SPACING[0], -(i // 5) * _SPACING[1], 0.0)
        pose = np.array([x, y, machine.height * _UNIT, cos(heading / 2), 0, 0, sin(heading / 2)])
        bodies += _drawn(machine, picture.joints, pose, label=f"({picture.letter}) ", shift=shift)
        for leg, h_x, h_y, v_z in picture.captions:
            rows.append((f"({picture.letter})", leg, round(h_x, 2), round(h_y, 2), v_z))
    columns = header("picture | leg | h_x | h_y | v_z")
    late = slips()
    return (
        Scene3D("Fig. 12, (a) to (k)", tuple(bodies)),
        Table("Fig. 12 as printed", columns, tuple(rows)),
        Prose(
            "The paper does not rotate the legs that swing after the body into its new frame:"
            f" in stance the foot of leg 3 slips by {late[2]:.3f} and that of leg 2 by"
            f" {late[1]:.3f} units. All walks above are exact."
        ),
    )


def _scenes() -> tuple[Figure, ...]:
    scenes = []
    for title, kind, shown in (
        ("Fig. 13: TTT1 steps sideways with the whole leg", LegKind.TTT1, _FIGURE_13),
        ("Fig. 14: TTR turns the whole leg", LegKind.TTR, _FIGURE_14),
    ):
        machine = Machine(kind=kind)
        bodies: list[Mesh3D] = []
        for i, (leg, values) in enumerate(shown):
            joints = np.zeros((4, 3))
            joints[leg - 1] = values
            pose = np.array([0.0, 0.0, machine.height * _UNIT, 1.0, 0.0, 0.0, 0.0])
            shift = (i * _SPACING[0], 0.0, 0.0)
            bodies += _drawn(machine, joints, pose, label=f"({'ab'[i]}) ", shift=shift)
        scenes.append(Scene3D(title, tuple(bodies)))
    return tuple(scenes)


def _drawn(
    machine: Machine,
    joints: Array,
    pose: Array,
    *,
    label: str,
    shift: tuple[float, float, float],
) -> list[Mesh3D]:
    """Return the meshes of a robot at a body pose [m] with joint values [unit, rad]."""
    links = machine.leg.link_poses(joints) * ([_UNIT] * 3 + [1.0] * 4)
    links[:, :, :3] += machine.hips[:, np.newaxis] * _UNIT
    c, s = pose[3], pose[6]
    turned = links.copy()
    angle = 2 * np.arctan2(s, c)
    turned[..., 0] = np.cos(angle) * links[..., 0] - np.sin(angle) * links[..., 1] + pose[0]
    turned[..., 1] = np.sin(angle) * links[..., 0] + np.cos(angle) * links[..., 1] + pose[1]
    turned[..., 2] += pose[2]
    w, x, y, z = np.moveaxis(links[..., 3:], -1, 0)
    turned[..., 3:] = np.stack(
        [c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w], axis=-1
    )
    return machine_meshes(machine, turned, pose, unit_m=_UNIT, label=label, shift=shift)


def _tables() -> tuple[Figure, ...]:
    return (
        Table(
            "Table 1: leg orders; 0 is a move of the body",
            (Column("row"), Column("order")),
            tuple((row, f"0 {a} {b} 0 {c} {d}") for row, (a, b, c, d) in TABLE_1.items()),
        ),
        _derived_orders(),
        _transforms(),
        Table(
            "Table 3: the third motion of a leg",
            (Column("type"), Column("transform")),
            (("TTT1", "T_y(h_y)"), ("TTT2", "R_x(alpha3)"), ("TTR", "R_z(omega)")),
        ),
        _link_table("Table 4: links of TTT1", "T_y(h_y) ", ""),
        _link_table("Table 5: links of TTT2", "", "R_x(alpha3) "),
    )


def _derived_orders() -> Table:
    """Search all 24 orders: no foot inward of its rest position, then the best margin."""
    plans = {
        name: WalkPlan(
            waypoints=((0.0, 0.0), (64.0 * x, 64.0 * y)),
            heading=Heading.CRAB,
            timing=GaitTiming.PAPER,
        )
        for name, (x, y) in _DIRECTIONS.items()
    }
    for name, angle in (("spin left", 60.0), ("spin right", -60.0)):
        plans[name] = WalkPlan(heading=Heading.SPIN, spin_deg=angle, timing=GaitTiming.PAPER)
    rows = []
    for name, plan in plans.items():
        verdicts = judge_all_orders(plan, lay_route(plan))
        best = min((verdict.inward, -verdict.margin) for verdict in verdicts)
        equal = [v.order for v in verdicts if (v.inward, -v.margin) == best]
        found = [str(table1_row(order)) for order in equal if table1_row(order)]
        rows.append((name, " or ".join(found), best[0], -best[1] + 0.0))
    return Table(
        "Table 1 derived: all 24 orders, no foot inward, then the best margin",
        header("direction | rows | inward [unit] | margin [unit]"),
        tuple(rows),
    )


def _transforms() -> Table:
    rows = (
        (5, "R_y(alpha1)", "T_z(v_z)"),
        (6, "R_y(alpha1)", "T(h_x, h_z)"),
        (7, "R_y(alpha2)", "T(h_x, h_z)"),
        (8, "R_y(alpha2)", "T_x(K h_x) T_z((1-K) v_z + K h_z)"),
        (9, "", "T_x(K h_x) T_z((1-K) v_z + K h_z)"),
    )
    return Table(
        "Table 2: rotations and translations of links",
        header("link | rotation | translation"),
        rows,
    )


def _link_table(title: str, slide: str, hinge: str) -> Table:
    lateral = "K h_y" if hinge else "0"
    b = "T(h_x, h_y, h_z)" if hinge else "T(h_x, 0, h_z)"
    foot = f"T(K h_x, {lateral}, (1-K) v_z + K h_z)"
    own = (
        "",
        "",
        "T_z(v_z)",
        b,
        f"T_z(v_z) {hinge}R_y(alpha1)",
        f"{b} {hinge}R_y(alpha1)",
        f"{b} {hinge}R_y(alpha2)",
        f"{foot} {hinge}R_y(alpha2)",
        foot,
    )
    rows = tuple(
        (i, name, (f"{slide if i > 1 else ''}{text}").strip() or "fixed")
        for i, (name, text) in enumerate(zip(LINK_NAMES, own, strict=True), 1)
    )
    return Table(title, header("link | name | transform in the leg"), rows)
