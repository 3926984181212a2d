"""The pantograph leg: kinematics, closed loops, link poses, and machines as files."""

from dataclasses import replace
from math import degrees, radians

import numpy as np
import pytest

from kernel_references import link_transforms
from kinetarium.errors import KinetariumError
from kinetarium.legs import (
    LegKind,
    LegsError,
    LinkShape,
    Machine,
    PantographLeg,
    WalkPlan,
    load_machine,
    plan_walk,
    save_machine,
)
from kinetarium.legs.mechanism.machine import default_link_shapes, machine_toml, missed_pivots
from kinetarium.legs.walk.walk import walking_volume
from kinetarium.spatial import rotation_from_quaternion

RAIL = -8.485281374
VECTORS = [
    ("ttt2", (0, 0, 0), (0, 0, -50.9117), (45, 135, 0), 8.48528, (-25.4558, 0, -25.4558)),
    ("ttt2", (-4.69, -0.33, 0), (-28.14, -1.98, -50.9117), (64.9724, 172.8517, -2.2272), 9.70077,
     (-32.6197, -0.5919, -15.2185)),
    ("ttt2", (-5.78, -1.49, 0), (-34.68, -8.94, -50.9117), (64.0286, 183.6878, -9.9595), 10.37442,
     (-32.3645, -2.7266, -15.5276)),
    ("ttt2", (3, 2, 0.5), (18, 12, -53.4117), (18.1638, 125.7343, 12.5487), 9.68170,
     (-11.2224, 7.4319, -32.8890)),
    ("ttt1", (-2.18, 21.83, 0), (-13.08, 21.83, -50.9117), (57.5163, 151.3008, 0), 8.76084,
     (-30.3676, 21.83, -19.3342)),
    ("ttr", (-5.82, radians(18.76), 0), (-33.0648, -11.2304, -50.9117), (65.4142, 183.4777, 0),
     10.28943, (-30.9971, -10.5281, -14.9780)),
]  # fmt: skip


def leg_of(kind, l1=6.0, l2=6.0):
    return PantographLeg(kind, l1=l1, l2=l2, gain=6, rail_height=RAIL)


def poses_within_reach(leg, count, seed=0):
    """Draw joint values evenly over everything that a leg can do."""
    rng = np.random.default_rng(seed)
    low, high = leg.reach
    direction = rng.normal(size=(count, 3))
    direction[:, 2] = np.abs(direction[:, 2])
    if leg.kind is not LegKind.TTT2:
        direction[:, 1] = 0
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    q = direction * rng.uniform(low, high, (count, 1))
    q[:, 2] += leg.rail_height
    if leg.kind is LegKind.TTT1:
        q[:, 1] = rng.uniform(-25, 25, count)
    if leg.kind is LegKind.TTR:
        q[:, 1] = rng.uniform(-1.5, 1.5, count)
    return q


def tip(poses, link, length):
    """Return the end of a bar that hangs down from its origin."""
    w, x, y, z = np.moveaxis(poses[:, link, 3:], -1, 0)
    axis = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=-1)
    return poses[:, link, :3] - length * axis


def check_kinematics(kind, l1, l2, count):
    leg = leg_of(kind, l1, l2)
    q = poses_within_reach(leg, count)
    assert (leg.overreach(q) <= 1e-12).all()
    f = leg.forward(q)
    np.testing.assert_allclose(leg.forward(leg.inverse(f)), f, rtol=0, atol=1e-12)
    np.testing.assert_allclose(leg.inverse(f), q, rtol=0, atol=1e-12)
    poses = leg.link_poses(q)
    knee, other_knee = tip(poses, 4, 6 * l1), tip(poses, 7, 6 * l2)
    pin_d, other_d = tip(poses, 4, l1), tip(poses, 6, l2)
    pin_g, other_g = tip(poses, 5, 5 * l1), tip(poses, 7, 5 * l2)
    for one, other in (
        (knee, other_knee),
        (pin_d, other_d),
        (pin_g, other_g),
        (poses[:, 8, :3], f),
    ):
        assert np.abs(one - other).max() <= 1e-9
    # The pantograph's law: f - a = K (b - a).
    a, b = poses[:, 2, :3], poses[:, 3, :3]
    np.testing.assert_allclose(f - a, 6 * (b - a), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("l1", "l2"), [(6, 6), (7, 5), (5, 8)])
@pytest.mark.parametrize("kind", LegKind)
def test_kinematics_and_loops(kind, l1, l2):
    check_kinematics(kind, l1, l2, 5_000)


@pytest.mark.slow
@pytest.mark.parametrize(("l1", "l2"), [(6, 6), (7, 5), (5, 8)])
@pytest.mark.parametrize("kind", LegKind)
def test_kinematics_and_loops_of_a_hundred_thousand_poses(kind, l1, l2):
    check_kinematics(kind, l1, l2, 100_000)


@pytest.mark.parametrize(("kind", "q", "foot", "angles", "span", "knee"), VECTORS)
def test_vectors(kind, q, foot, angles, span, knee):
    leg, rows = leg_of(kind), np.array([q], dtype=float)
    np.testing.assert_allclose(leg.forward(rows)[0], foot, rtol=0, atol=6e-5)
    np.testing.assert_allclose(
        np.degrees(leg.passive_angles(rows)[0]), angles, rtol=0, atol=6e-5)  # fmt: skip
    assert leg.span(rows)[0] == pytest.approx(span, abs=6e-6)
    np.testing.assert_allclose(tip(leg.link_poses(rows), 4, 36)[0], knee, rtol=0, atol=6e-5)


@pytest.mark.parametrize("kind", LegKind)
def test_kernel_is_the_product_of_the_paper_tables(kind):
    leg = leg_of(kind, 7, 5)
    q = poses_within_reach(leg, 20, seed=4)
    for row, poses in zip(q, leg.link_poses(q), strict=True):
        for X, pose in zip(link_transforms(leg, row), poses, strict=True):
            np.testing.assert_allclose(rotation_from_quaternion(pose[3:]), X[:3, :3], atol=1e-12)
            np.testing.assert_allclose(pose[:3], X[:3, 3], atol=1e-12)


def test_vertical_and_horizontal_are_decoupled():
    leg = leg_of("ttt2")
    step = np.eye(3) * 0.1
    moved = leg.forward(step) - leg.forward(np.zeros((3, 3)))
    np.testing.assert_allclose(moved / 0.1, np.diag([6, 6, -5]), atol=1e-12)


def test_a_turning_leg_goes_through_its_axis_without_a_jump():
    leg = leg_of("ttr")
    along = np.linspace(-10, 10, 21)
    f = np.column_stack([along, 0.2 * along, np.full(21, -50.0)])
    q = leg.follow(f)
    np.testing.assert_allclose(q[:, 1], np.arctan(0.2), atol=1e-12)
    assert q[0, 0] < 0 < q[-1, 0] and leg.under_axis(f).sum() == 1
    np.testing.assert_allclose(leg.forward(q), f, atol=1e-12)
    kept = leg.inverse([[3, 3, -50], [0, 0, -50], [0, 0, -50]])
    np.testing.assert_allclose(kept[:, 1], np.pi / 4)


def test_a_turning_leg_beside_its_axis_turns_smoothly():
    leg = leg_of("ttr")
    f = np.column_stack([np.linspace(-10, 10, 41), np.full(41, 2.0), np.full(41, -50.0)])
    q = leg.follow(f)
    assert np.abs(np.diff(q[:, 1])).max() < 0.3
    np.testing.assert_allclose(leg.forward(q), f, atol=1e-12)


def test_overreach_says_by_how_much():
    leg = leg_of("ttt2")
    q = np.array([[9.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert leg.overreach(q)[0] == pytest.approx(np.hypot(9, RAIL) - 0.98 * 12)
    assert leg.overreach(q)[1] == 0
    assert degrees(leg.passive_angles(np.array([[12.0, 0, RAIL]]))[0, 1]) == pytest.approx(90)


@pytest.mark.parametrize("kind", LegKind)
def test_walking_volume_against_random_points(kind):
    machine = Machine(kind=kind, l1=7.0, l2=5.0)
    leg, rng = machine.leg, np.random.default_rng(1)
    box = np.array([[-75, -80, -130.0], [75, 80, 20]])
    points = rng.uniform(*box, (200_000, 3))
    q = leg.inverse(points)
    inside = (leg.overreach(q) == 0) & (q[:, 2] > leg.rail_height)
    if kind is LegKind.TTT1:
        inside &= np.abs(q[:, 1]) <= machine.lateral_stroke
    if kind is LegKind.TTR:
        inside &= np.abs(q[:, 1]) <= machine.limits[3]
    guess = inside.mean() * np.prod(box[1] - box[0])
    assert walking_volume(machine) == pytest.approx(guess, rel=0.03)


def test_a_machine_survives_its_file(tmp_path):
    shapes = list(Machine().link_shapes[3])
    shapes[4] = LinkShape("thigh", ((-1, -1), (2, -1), (0, 3)), 0.0, -36.0)
    machine = Machine(kind=LegKind.TTR, l2=5.0, foot_offset=12.0, shapes=tuple(shapes))
    save_machine(machine, tmp_path / "machine.json")
    assert load_machine(tmp_path / "machine.json") == machine
    left, right = machine.link_shapes[2][4], machine.link_shapes[0][4]
    assert left.section == shapes[4].section
    assert right.section == ((0, -3), (2, 1), (-1, 1))


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", '{"schema_version": 1, "l1": "six"}', '{"schema_version": 1, "l1": -1}',
        '{"schema_version": 1, "leg": 4}', '{"schema_version": 1, "kind": "ttt3"}',
        '{"schema_version": 1, "gain": NaN}', '{"schema_version": 1, "gain": 1e999}',
        '{"schema_version": 1, "shapes": [1]}', '{"schema_version": 9}', "\x00",
    ],
)  # fmt: skip
def test_broken_machine_files_are_refused(tmp_path, text):
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(KinetariumError):
        load_machine(path)


@pytest.mark.parametrize(
    "values",
    [{"l1": 0.0}, {"l2": float("nan")}, {"gain": 1.0}, {"rail_height": 3.0}, {"body_width": -1.0},
     {"foot_offset": -2.0}, {"com": (float("inf"), 0.0)}, {"shapes": (LinkShape("x", (), 0, 0),)}],
)  # fmt: skip
def test_what_is_no_machine_is_refused(values):
    with pytest.raises(LegsError):
        Machine(**values)


def test_a_machine_file_to_edit_reads_back_and_names_its_faults(tmp_path):
    shapes = default_link_shapes(l1=7.25, l2=6.0, gain=6.0)
    machine = Machine(kind=LegKind.TTR, l1=7.25, com=(1.5, -0.5), shapes=shapes)
    path = tmp_path / "machine.toml"
    path.write_text(machine_toml(machine))
    assert load_machine(path) == machine
    path.write_text("l1 = 8.0\n")
    assert load_machine(path) == Machine(l1=8.0)
    path.write_text("l1 = -1.0\n")
    with pytest.raises(LegsError, match="l1 of the machine"):
        load_machine(path)


def test_shapes_are_stored_for_some_links_and_stay_at_their_pivots():
    triangle = ((-1.0, -1.0), (2.0, 0.0), (-1.0, 1.0))
    thigh = LinkShape("thigh", triangle, 0.5, -36.5, 36.0)
    machine = Machine(shapes=(thigh,))
    assert machine.link_shapes[2][4] == thigh
    plain = Machine().link_shapes[2]
    assert machine.link_shapes[2][5:] == plain[5:]
    longer = replace(machine, l1=7.0, gain=5.0)
    drawn = longer.link_shapes[2][4]
    assert (drawn.top, drawn.bottom, drawn.section) == (0.5, -35.5, triangle)
    assert longer.link_shapes[2][7].bottom == -30.0
    # A shape without a length, as files of before have it, keeps its size.
    fixed = replace(longer, shapes=(replace(thigh, length=0.0),))
    assert fixed.link_shapes[2][4].bottom == -36.5
    for wrong in ((replace(thigh, name="thing"),), (thigh, thigh)):
        with pytest.raises(LegsError):
            Machine(shapes=wrong)


def test_shapes_that_miss_a_pivot_are_warned_of():
    assert all(missed_pivots(Machine(kind=kind, l1=5.0, gain=4.0)) == {} for kind in LegKind)
    triangle = ((-1.0, -1.0), (2.0, 0.0), (-1.0, 1.0))
    beside = tuple((x + 3.0, y) for x, y in triangle)
    cases = {
        LinkShape("thigh", triangle, 0.0, -34.0, 36.0): 2.0,  # the knee
        LinkShape("thigh", triangle, -0.75, -36.0, 36.0): 0.75,  # the upper pivot
        LinkShape("thigh", beside, 0.0, -36.0, 36.0): 2.0,  # the axis
        LinkShape("foot", triangle, 3.0, 1.5): 1.5,
        LinkShape("bracket", beside, 9.0, 8.0): 0.0,  # it has no pivot
    }
    for shape, amount in cases.items():
        machine = Machine(shapes=(shape,))
        expected = {shape.name: pytest.approx(amount)} if amount else {}
        assert missed_pivots(machine) == expected
    walk = plan_walk(WalkPlan(machine=Machine(shapes=(next(iter(cases)),))))
    (warning,) = [each for each in walk.warnings if each.kind == "shape"]
    assert warning.text == "the shape of the thigh misses a pivot by 2.00"
    assert (warning.leg, warning.frame) == (0, 0)
