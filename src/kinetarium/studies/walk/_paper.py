"""The paper's tables and scenes, planned by this program beside the printed numbers."""

from dataclasses import dataclass, replace
from math import acos, atan2, cos, degrees, radians, sin, sqrt, tan

import numpy as np

from kinetarium.figure.page import Figure, Section
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.text import Cell, Column, Prose, Table, header
from kinetarium.figure.walk_replay import machine_meshes
from kinetarium.legs import (
    TABLE_1,
    Curve,
    GaitTiming,
    Heading,
    LegKind,
    Machine,
    PlannedWalk,
    WalkPlan,
    plan_walk,
)
from kinetarium.legs.mechanism.machine import LINK_NAMES
from kinetarium.legs.walk.plan import table1_row
from kinetarium.legs.walk.planner import judge_all_orders
from kinetarium.legs.walk.route import lay_route
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import wrapped

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


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture of Figs. 13 and 14, as a step of the body that the program plans.

    The paper prints the joint values of one leg, not the step: it is the one that they imply
    for a foot that swings from rest to rest, in Fig. 14 with the chord along the new heading,
    as in Fig. 12.

    Attributes:
        name: Figure and picture.
        kind: Leg actuation.
        move: Translation of the body [unit].
        heading_deg: Its rotation [deg].
        row: Row of Table 1 with the order of the legs.
        leg: The leg that the caption is about.
        part: Completed share of its swing.
        printed: Its joint values as printed [unit, deg for an angle]: the paper's axes are ours
            turned by half a turn.
    """

    name: str
    kind: LegKind
    move: tuple[float, float]
    heading_deg: float
    row: int
    leg: int
    part: float
    printed: tuple[float, float, float]


SCENES = (
    Scene("13 (a)", LegKind.TTT1, (13.08, -21.83), 0.0, 1, 1, 1.0, (-2.18, 21.83, 0.0)),
    Scene("13 (b)", LegKind.TTT1, (11.76, -24.54), 0.0, 1, 4, 0.0, (1.96, -24.54, 0.0)),
    Scene("14 (a)", LegKind.TTR, (32.559, 2.1797), 3.83, 5, 2, 0.5, (-2.84, -5.83, -1.0)),
    Scene("14 (b)", LegKind.TTR, (28.913, -6.596), -12.851, 7, 4, 1.0, (-5.82, 18.76, 0.0)),
)


def planned_scene(scene: Scene, machine: Machine) -> tuple[PlannedWalk, int]:
    """Plan the step of a picture with the paper's timing; return it and the frame shown."""
    x, y = scene.move
    turning = scene.heading_deg != 0
    # A Bezier curve that leaves along x and arrives along its chord, the new heading.
    bend = ((x / 3, 0.0), (x * 2 / 3, y * 2 / 3)) if turning else ()
    plan = WalkPlan(
        machine=replace(machine, kind=scene.kind),
        waypoints=((0.0, 0.0), *bend, (x, y)),
        curve=Curve.BEZIER,
        heading=Heading.TURN if turning else Heading.CRAB,
        stride=1e3,
        lift=(machine.gain - 1) * -LIFT,
        timing=GaitTiming.PAPER,
        order=TABLE_1[scene.row],
        frames_per_step=48,
    )
    walk = plan_walk(plan)
    step = next(step for step in walk.steps if step.leg == scene.leg)
    return walk, step.first + round(scene.part * (step.last - step.first))


def planned_values(scene: Scene, machine: Machine) -> tuple[float, float, float]:
    """Return the planned joint values of a picture's leg in the paper's axes [unit, deg]."""
    walk, frame = planned_scene(scene, machine)
    h_x, c, v_z = walk.joints[frame, scene.leg - 1].tolist()
    if scene.kind is LegKind.TTR:
        # The leg may point to its foot or away from it; the paper's points to it.
        h_x, c = (h_x, c) if h_x >= 0 else (-h_x, c - np.pi)
        c = degrees(wrapped(c))
    return -h_x + 0.0, -c + 0.0, v_z + 0.0


_DIRECTIONS = {
    "forward and right": (1.0, -0.5),
    "forward and left": (1.0, 0.5),
    "back and right": (-1.0, -0.5),
    "back and left": (-1.0, 0.5),
}


def paper_sections(machine: Machine) -> tuple[Section, ...]:
    """Return Tables 1 to 5 and Figs. 12 to 14.

    Args:
        machine: The robot whose Figs. 13 and 14 and Tables 2 to 5 are shown; Fig. 12 and Table 1
            are those of the paper's.
    """
    return (
        Section("The paper's walks", (*_figure_12(), *_scenes(machine)), "Figs. 12 to 14"),
        Section("The paper's tables", _tables(machine), "Tables 1 to 5"),
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


def _scenes(machine: Machine) -> tuple[Figure, ...]:
    drawn: dict[LegKind, list[Mesh3D]] = {}
    rows = []
    for scene in SCENES:
        walk, frame = planned_scene(scene, machine)
        meshes = drawn.setdefault(scene.kind, [])
        body = walk.body[frame] * ([_UNIT] * 3 + [1.0] * 4)
        links = walk.links[frame] * ([_UNIT] * 3 + [1.0] * 4)
        shift = (bool(meshes) * _SPACING[0], 0.0, 0.0)
        label = f"({scene.name[-2]}) "
        meshes += machine_meshes(
            walk.plan.machine, links, body, unit_m=_UNIT, label=label, shift=shift
        )
        lateral = "omega [deg]" if scene.kind is LegKind.TTR else "h_y [unit]"
        foot = walk.feet[frame, scene.leg - 1]
        for name, printed, ours in zip(
            ("h_x [unit]", lateral, "v_z [unit]"),
            scene.printed,
            planned_values(scene, machine),
            strict=True,
        ):
            where = " ".join(f"{value:.2f}" for value in foot)
            knee = float(np.degrees(_knee(walk, frame=frame, leg=scene.leg)))
            rows.append((scene.name, scene.leg, name, printed, ours, ours - printed, where, knee))
    return (
        Scene3D("Fig. 13: TTT1 steps sideways with the whole leg", tuple(drawn[LegKind.TTT1])),
        Scene3D("Fig. 14: TTR turns the whole leg", tuple(drawn[LegKind.TTR])),
        Table(
            "Figs. 13 and 14: planned beside printed",
            header("picture | leg | joint | paper | program | difference | foot | knee [deg]"),
            tuple(rows),
        ),
        Prose(
            "The steps of Figs. 13 and 14 are not printed; they are those that the printed values"
            " imply. The program plans them, with the paper's timing and orders of Table 1, and"
            " its joint values, feet in the world and knee angles follow from the machine."
        ),
    )


def _knee(walk: PlannedWalk, *, frame: int, leg: int) -> float:
    """Return the angle between thigh and shank of a leg [rad]."""
    alpha = walk.plan.machine.leg.passive_angles(walk.joints[frame, leg - 1])
    return float(np.pi - (alpha[1] - alpha[0]))


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


def _tables(machine: Machine) -> tuple[Figure, ...]:
    return (
        Table(
            "Table 1: leg orders; 0 is a move of the body",
            (Column("row"), Column("order")),
            tuple((row, f"0 {a} {b} 0 {c} {d}") for row, (a, b, c, d) in TABLE_1.items()),
        ),
        _derived_orders(),
        _planar_table(machine),
        _third_motion(machine),
        _link_table("Table 4: links of TTT1", machine, LegKind.TTT1, SAMPLE_TTT1),
        _link_table("Table 5: links of TTT2", machine, LegKind.TTT2, SAMPLE_TTT2),
        Prose(
            "Tables 2, 4 and 5 compare, in the leg's frame, where each link is by the paper's"
            " formulas and by this program. The paper's constants (-37, 38.5, 41.5, -18, -8, -2,"
            " +1.5) are offsets of its drawing and left out. Equation (17) is misprinted, (18) and"
            " (22) lack h_y, rows 2 to 4 of Table 4 lack T_y(h_y), rows 3 and 4 of both have h_z"
            " for the motion of the sliders, and T_y7 of Table 2 is T_z7: hence the differences."
        ),
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


SAMPLE_TTT1 = (2.18, -21.83, 0.0)
"""Joint values of Fig. 13 (a), for Table 4 [unit]."""
SAMPLE_TTT2 = (5.78, -1.49, 0.0)
"""Joint values of Fig. 12 (e), for Table 5 [unit]."""
_SAMPLE_PLANAR = (3.0, 0.0, -0.5)
_THIRD = {LegKind.TTT1: 4.0, LegKind.TTT2: 4.0, LegKind.TTR: radians(20.0)}
"""Lateral joint values for Table 3 [unit or rad]."""
_FORMULAS = (
    ("fixed", "fixed"),
    ("fixed", "fixed"),
    ("T_z(h_z)", "T_z(h_z)"),
    ("T_z(h_z)", "T_z(h_z)"),
    ("T_z(v_z) T_y(h_y) R_y(a1)", "T_z(v_z) R_x(a3) R_y(a1)"),
    ("T(h_x, h_y, h_z) R_y(a1)", "T(h_x, h_y, h_z) R_x(a3) R_y(a1)"),
    ("T(h_x, h_y, h_z) R_y(a2)", "T(h_x, h_y, h_z) R_x(a3) R_y(a2)"),
    ("T(K h_x, h_y, f_z) R_y(a2)", "T(K h_x, K h_y, f_z) R_x(a3) R_y(a2)"),
    ("T(K h_x, h_y, f_z)", "T(K h_x, K h_y, f_z)"),
)
"""Transforms of links 1 to 9 in Tables 4 and 5, without offsets; f_z is (1 - K) v_z + K h_z."""


def printed_angles(machine: Machine, q: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return alpha1, alpha2, alpha3 by equations (17) to (23) as printed [rad]."""
    x, c, v = q
    l1, l2, drop = machine.l1, machine.l2, v - machine.rail_height
    L = sqrt(drop * drop + x * x)
    cosine = (l1 * l1 + l2 * l2 - L * L) / (2 * l1 * l2)
    theta1 = acos(min(max((l1 * l1 + l2 * l2 - L * L) / (2 * L * l1), -1.0), 1.0))
    theta2, theta3 = atan2(x, drop), acos(min(max(cosine, -1.0), 1.0))
    return theta1 - theta2, theta1 + theta3 - theta2, atan2(c, drop)


def printed_places(
    machine: Machine, kind: LegKind, q: tuple[float, float, float]
) -> tuple[Array, Array]:
    """Return where Tables 4 and 5 put links 1 to 9, and how they turn them.

    Returns:
        The origins [unit], shape (9, 3), and the angles about x and y [rad], shape (9, 2).
    """
    (x, c, v), K, rail = q, machine.gain, machine.rail_height
    hinged = kind is LegKind.TTT2
    a1, a2, a3 = printed_angles(machine, q)
    tilt = a3 if hinged else 0.0
    a, b = (0.0, 0.0 if hinged else c, v), (x, c, rail)
    foot = (K * x, K * c if hinged else c, (1 - K) * v + K * rail)
    still = (0.0, 0.0, 0.0)
    places = np.array([still, still, (0.0, 0.0, rail), (0.0, 0.0, rail), a, b, b, foot, foot])
    turned = [(0.0, 0.0)] * 4 + [(tilt, a1), (tilt, a1), (tilt, a2), (tilt, a2), (0.0, 0.0)]
    return places, np.array(turned)


def link_differences(
    machine: Machine, kind: LegKind, q: tuple[float, float, float]
) -> list[tuple[Array, Array, float, float]]:
    """Compare the links of a leg by the program and by the paper's tables.

    Returns:
        For links 1 to 9 origin [unit] and angles about x and y [rad] by the program, and the
        distance [unit] and greatest difference of an angle [rad] from the paper's.
    """
    leg = replace(machine, kind=kind).leg
    poses = leg.link_poses(np.array(q))[0]
    places, turned = printed_places(machine, kind, q)
    found = []
    for pose, place, angles in zip(poses, places, turned, strict=True):
        w, x, y, z = pose[3:]
        # R = R_x(a) R_y(b): its y axis is (0, cos a, sin a), its x axis begins with cos b.
        about_x = atan2(2 * (y * z + w * x), 1 - 2 * (x * x + z * z))
        about_y = atan2(2 * (x * z + w * y), 1 - 2 * (y * y + z * z))
        ours = np.array([about_x, about_y])
        apart = np.abs(np.angle(np.exp(1j * (ours - angles)))).max()
        found.append((pose[:3], ours, float(np.linalg.norm(pose[:3] - place)), float(apart)))
    return found


_HEADER = (
    "link | name | paper | x [unit] | y [unit] | z [unit] | about x [deg] | about y [deg] |"
    " distance [unit] | angle [deg]"
)


def _link_rows(
    machine: Machine, kind: LegKind, q: tuple[float, float, float], *, first: int = 1
) -> tuple[tuple[Cell, ...], ...]:
    column = 1 if kind is LegKind.TTT2 else 0
    rows = enumerate(link_differences(machine, kind, q), 1)
    return tuple(
        (
            i,
            LINK_NAMES[i - 1],
            _FORMULAS[i - 1][column],
            *place.tolist(),
            *np.degrees(angles).tolist(),
            apart,
            degrees(turned),
        )
        for i, (place, angles, apart, turned) in rows
        if i >= first
    )


def _planar_table(machine: Machine) -> Table:
    """Return links 5 to 9 of a leg without lateral motion."""
    rows = _link_rows(machine, LegKind.TTT1, _SAMPLE_PLANAR, first=5)
    return Table(
        f"Table 2: links without lateral motion at {_words(_SAMPLE_PLANAR)}; paper, program,"
        " differences",
        header(_HEADER),
        rows,
    )


def _link_table(
    title: str, machine: Machine, kind: LegKind, q: tuple[float, float, float]
) -> Table:
    return Table(
        f"{title} at {_words(q)}; paper, program, differences",
        header(_HEADER),
        _link_rows(machine, kind, q),
    )


def _third_motion(machine: Machine) -> Table:
    """Measure what the lateral joint does to the thigh."""
    rows = []
    for kind, paper in zip(LegKind, ("T_y", "R_x", "R_z"), strict=True):
        value = _THIRD[kind]
        leg = replace(machine, kind=kind).leg
        _, y, _, *quaternion = leg.link_poses(np.array([1.0, value, 0.0]))[0, 4].tolist()
        w, qx, qy, qz = quaternion
        side = (2 * (qx * qy - w * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + w * qx))
        shown = degrees(value) if kind is LegKind.TTR else value
        about_z = degrees(atan2(-side[0], side[1]))
        rows.append((kind.upper(), paper, shown, y, degrees(atan2(side[2], side[1])), about_z))
    return Table(
        "Table 3: the third motion of a leg, seen at its thigh",
        header("type | paper | joint [unit or deg] | T_y [unit] | R_x [deg] | R_z [deg]"),
        tuple(rows),
    )


def _words(q: tuple[float, float, float]) -> str:
    return "h_x {:g}, h_y {:g}, v_z {:g}".format(*q)
