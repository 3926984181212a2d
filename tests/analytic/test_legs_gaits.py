"""Gaits against closed forms and the numbers of the 1988 paper."""

import struct
import zlib
from dataclasses import replace
from io import BytesIO
from math import cos, hypot, pi, sin, sqrt

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from kinetarium.errors import KinetariumError
from kinetarium.figure.text import Table
from kinetarium.legs import (
    TABLE_1,
    Curve,
    GaitTiming,
    Heading,
    LegKind,
    LegsError,
    Machine,
    Step,
    Terrain,
    WalkPlan,
    WarningKind,
    plan_walk,
)
from kinetarium.legs.walk.crawl import hull_margin, into_triangle
from kinetarium.legs.walk.height_map import HeightMap, read_height_map
from kinetarium.legs.walk.plan import TROT, Gait, read_gait, table1_row
from kinetarium.legs.walk.planner import judge_all_orders
from kinetarium.legs.walk.route import lay_route
from kinetarium.legs.walk.walk import joint_travel
from kinetarium.studies.walk._paper import (
    SAMPLE_TTT1,
    SCENES,
    link_differences,
    paper_sections,
    pictures,
    planned_values,
    printed_angles,
    printed_values,
    slips,
)

A, B, S = 18.5, 20.75, 31.87
LONG = WalkPlan(waypoints=((0.0, 0.0), (4 * S, 0.0)), stride=S)
SIDE = WalkPlan(waypoints=((0.0, 0.0), (0.0, 64.0)), heading=Heading.CRAB)
WALKS = {
    "straight": WalkPlan(waypoints=((0.0, 0.0), (64.0, 0.0))),
    "back": WalkPlan(waypoints=((0.0, 0.0), (-64.0, 0.0)), heading=Heading.CRAB),
    "curve": WalkPlan(waypoints=((0.0, 0.0), (60.0, 8.0), (110.0, 40.0))),
    "crab 30": WalkPlan(
        waypoints=((0.0, 0.0), (64 * cos(pi / 6), 32.0)), heading=Heading.CRAB),
    "crab 60": WalkPlan(
        waypoints=((0.0, 0.0), (32.0, 64 * cos(pi / 6))), heading=Heading.CRAB),
    "side": SIDE,
    "spin": WalkPlan(heading=Heading.SPIN),
}  # fmt: skip


def margin(stride, a=A, b=B):
    """Return the margin of a two-phase walk along a: the distance from the diagonal of support."""
    return stride / 4 * 2 * b / hypot(2 * a - stride / 2, 2 * b)


def test_margins_of_the_closed_form():
    assert plan_walk(LONG).min_margin == pytest.approx(margin(S), abs=1e-9)
    assert margin(S) == pytest.approx(7.1046, abs=1e-4)
    assert plan_walk(WALKS["straight"]).min_margin == pytest.approx(margin(16), abs=1e-9)
    assert margin(16) == pytest.approx(3.2787, abs=1e-4)
    assert plan_walk(SIDE).min_margin == pytest.approx(margin(16, B, A), abs=1e-9)
    assert margin(16, B, A) == pytest.approx(2.965, abs=1e-3)


def test_paper_timing_is_on_the_edge_and_says_so():
    walk = plan_walk(replace(LONG, timing=GaitTiming.PAPER))
    assert walk.min_margin == pytest.approx(0.0, abs=1e-9)
    assert any(w.kind is WarningKind.STABILITY and "edge" in w.text for w in walk.warnings)


@pytest.mark.parametrize(
    ("timing", "least"), [(GaitTiming.TWO_PHASE, -4.92), (GaitTiming.PAPER, -8.22)]
)
def test_a_wrong_row_tips_over(timing, least):
    walk = plan_walk(replace(LONG, order=TABLE_1[5], timing=timing))
    assert walk.min_margin == pytest.approx(least, abs=0.005)
    said = [w for w in walk.warnings if w.kind is WarningKind.STABILITY]
    assert said and all(w.leg and w.step and "tips over" in w.text for w in said if w.amount > 1)
    assert {w.frame for w in said} <= set(range(len(walk.time)))


@pytest.mark.parametrize(
    ("direction", "row"), [((1, -1), 1), ((1, 1), 2), ((-1, -1), 5), ((-1, 1), 6)]
)
def test_table_1_is_found_again_for_oblique_walks(direction, row):
    x, y = direction
    points = ((0, 0), (60 * x, 30 * y))
    plan = WalkPlan(waypoints=points, heading=Heading.CRAB, timing=GaitTiming.PAPER)
    best = min(judge_all_orders(plan, lay_route(plan)), key=lambda v: (v.inward, -v.margin))
    assert table1_row(best.order) == row and best.inward == 0


@pytest.mark.parametrize(("angle", "rows"), [(60.0, {3, 7}), (-60.0, {4, 8})])
def test_table_1_is_found_again_for_spins(angle, rows):
    plan = WalkPlan(heading=Heading.SPIN, spin_deg=angle, timing=GaitTiming.PAPER)
    verdicts = judge_all_orders(plan, lay_route(plan))
    best = min((v.inward, -v.margin) for v in verdicts)
    found = {table1_row(v.order) for v in verdicts if (v.inward, -v.margin) == best} - {0}
    assert found == rows


def test_the_best_order_of_a_straight_walk_is_row_1():
    walk = plan_walk(LONG)
    assert (walk.order, walk.table1_row) == ((1, 2, 3, 4), 1)
    assert plan_walk(SIDE).table1_row == 0


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("timing", GaitTiming)
@pytest.mark.parametrize("kind", [LegKind.TTT1, LegKind.TTT2])
def test_feet_that_stand_do_not_slip(name, timing, kind):
    walk = plan_walk(replace(WALKS[name], timing=timing, machine=Machine(kind=kind)))
    feet = walk.links[:, :, 8, :3]
    for leg in range(4):
        both = walk.support[1:, leg] & walk.support[:-1, leg]
        moved = np.linalg.norm(np.diff(feet[:, leg], axis=0), axis=1)
        assert moved[both].max() <= 1e-9
    np.testing.assert_allclose(feet, walk.feet, atol=1e-9)


@pytest.mark.parametrize("sway", [2.0, 4.0, 6.0])
@pytest.mark.parametrize("name", WALKS)
def test_sway_is_reached(name, sway):
    walk = plan_walk(replace(WALKS[name], sway=sway))
    swinging = ~walk.support.all(axis=1)
    assert walk.margin[swinging].min() >= sway - 1e-9
    assert not [w for w in walk.warnings if w.kind in (WarningKind.SWAY, WarningKind.REACH)]
    path_end = walk.path[-1]
    np.testing.assert_allclose(walk.body[-1, :2], path_end, atol=1e-9)


def test_sway_that_is_not_there_is_flagged():
    walk = plan_walk(replace(WALKS["straight"], sway=14.0))
    said = [w for w in walk.warnings if w.kind is WarningKind.SWAY]
    assert said and "is not reached" in said[0].text
    assert walk.margin[~walk.support.all(axis=1)].min() < 14.0


def test_sliding_the_whole_leg_takes_six_times_the_travel():
    slide = joint_travel(plan_walk(replace(SIDE, machine=Machine(kind=LegKind.TTT1))))
    hinge = joint_travel(plan_walk(replace(SIDE, machine=Machine(kind=LegKind.TTT2))))
    assert slide[1] / hinge[1] == pytest.approx(6.0, abs=1e-9)
    np.testing.assert_allclose(slide[[0, 2]], hinge[[0, 2]], atol=1e-9)


def test_a_turning_leg_under_its_axis_neither_steps_aside_nor_spins():
    limits = (WarningKind.DRIVE, WarningKind.REACH)
    for name in ("side", "spin"):
        under = plan_walk(replace(WALKS[name], machine=Machine(kind=LegKind.TTR)))
        outward = plan_walk(
            replace(WALKS[name], machine=Machine(kind=LegKind.TTR, foot_offset=20.0)))  # fmt: skip
        assert any(w.kind in limits for w in under.warnings)
        assert not any(w.kind in limits for w in outward.warnings)
    wide = Machine(kind=LegKind.TTR, foot_offset=10.0)
    assert any(w.kind in limits for w in plan_walk(replace(LONG, machine=wide)).warnings)


FIGURE_12 = {
    "b": (1, -2.34, -0.17), "c": (1, -4.69, -0.33), "d": (4, -2.89, -0.74), "e": (4, -5.78, -1.49),
    "g": (3, 2.94, 0.22), "i": (2, 2.30, 0.69),
}  # fmt: skip


def test_figure_12_as_printed():
    shown = {picture.letter: picture for picture in pictures(legacy=True)}
    for letter, (leg, h_x, h_y) in FIGURE_12.items():
        (caption,) = shown[letter].captions
        # Half up, as a printer of 1988 did: 2.935 is 2.94.
        assert (caption[0], caption[1], caption[2]) == pytest.approx((leg, h_x, h_y), abs=0.00501)
    late = {leg: (x, y) for leg, x, y, _ in shown["f"].captions}
    assert late[3] == pytest.approx((5.87, 0.43), abs=0.005)
    assert late[2] == pytest.approx((4.60, 1.39), abs=0.005)
    for letter in "hk":
        assert shown[letter].captions[0][1:] == pytest.approx((0, 0, 0))


def test_figure_12_as_it_should_be():
    exact = printed_values(legacy=False)
    np.testing.assert_allclose(exact[2], (5.858, -0.579), atol=0.001)
    np.testing.assert_allclose(exact[1], (4.765, 0.579), atol=0.001)
    np.testing.assert_allclose(slips(), (0, 4.949, 6.070, 0), atol=0.001)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_figures_13_and_14_are_planned(scene):
    """The planner's joint values are the printed ones, to the digits printed."""
    assert planned_values(scene, Machine()) == pytest.approx(scene.printed, abs=0.005)
    longer = planned_values(scene, Machine(gain=5.0))
    assert longer[0] == pytest.approx(scene.printed[0] * 6 / 5, abs=0.01)


def table(sections, start):
    return next(
        figure
        for section in sections
        for figure in section.figures
        if isinstance(figure, Table) and figure.title.startswith(start)
    )


def test_the_papers_tables_follow_the_machine():
    ours, longer = (paper_sections(Machine(l1=l1)) for l1 in (6.0, 7.0))
    for start in ("Figs. 13", "Table 2", "Table 4", "Table 5"):
        assert table(ours, start).rows != table(longer, start).rows, start
    raised = paper_sections(Machine(rail_height=-8.0))
    assert table(ours, "Table 3").rows != table(raised, "Table 3").rows


def test_the_papers_tables_differ_where_they_are_misprinted():
    links = link_differences(Machine(), LegKind.TTT1, SAMPLE_TTT1)
    apart = [each[2] for each in links]
    assert apart[1] == pytest.approx(21.83) and apart[4:] == pytest.approx([0.0] * 5, abs=1e-9)
    # Table 4 with the correct angles is the program's: the difference is that of equation (17).
    right = Machine(kind=LegKind.TTT1).leg.passive_angles(np.array(SAMPLE_TTT1))
    wrong = np.array(printed_angles(Machine(), SAMPLE_TTT1))
    np.testing.assert_allclose([each[3] for each in links[4:6]], abs(right - wrong)[0], atol=1e-9)
    assert links[4][1][1] == pytest.approx(right[0]) and links[7][1][1] == pytest.approx(right[1])


def test_a_planned_paper_step_is_the_exact_figure_12():
    """The planner, given the paper's step, finds the values that Fig. 12 should have shown."""
    angle = np.radians(-9.858)
    body = Machine()
    plan = WalkPlan(
        machine=body, heading=Heading.SPIN, spin_deg=-9.858, stride=100.0, timing=GaitTiming.PAPER,
        order=TABLE_1[3])  # fmt: skip
    walk = plan_walk(plan)
    c, s = cos(angle), sin(angle)
    t = body.neutral_feet[:, :2]
    turned = t @ np.array([[c, s], [-s, c]])
    np.testing.assert_allclose(walk.feet[-1, :, :2], turned, atol=1e-9)


def test_margin_is_that_of_the_convex_hull():
    square = np.array([[0, 0], [2, 0], [0, 2], [2, 2.0]])  # crossed, as legs are numbered
    assert hull_margin(square, 1.0, 0.5) == pytest.approx(0.5)
    dart = np.array([[0, 0], [4, 0], [2, 1], [2, 4.0]])  # one foot inside the others
    assert hull_margin(dart, 2.0, 0.5) == pytest.approx(0.5)
    assert hull_margin(dart, 2.0, -3.0) == pytest.approx(-3.0)
    assert hull_margin(dart, -3.0, -4.0) == pytest.approx(-5.0)
    line = np.array([[0, 0], [1, 0], [3, 0.0]])
    assert hull_margin(line, 1.0, 0.25) == pytest.approx(-0.25)
    assert hull_margin(np.zeros((3, 2)), 3.0, 4.0) == pytest.approx(-5.0)


def test_the_nearest_place_with_a_margin():
    corners = np.array([[0, 0], [4, 0], [0, 3.0]])
    x, y = into_triangle(corners, 5.0, -1.0, 0.5)
    assert hull_margin(corners, x, y) == pytest.approx(0.5)
    rng = np.random.default_rng(0)
    for px, py in rng.uniform(-3, 6, (50, 2)):
        x, y = into_triangle(corners, px, py, 0.5)
        others = rng.uniform((0, 0), (4, 3), (2000, 2))
        allowed = [q for q in others if hull_margin(corners, *q) >= 0.5]
        nearest = min(hypot(px - q[0], py - q[1]) for q in allowed)
        assert hypot(px - x, py - y) <= nearest + 1e-9
    assert into_triangle(corners, 5.0, 5.0, 2.0) == pytest.approx((1.0, 1.0))  # the incentre


def test_strides_shorten_in_bends():
    plan = WalkPlan(waypoints=((0, 0), (40, 0), (60, 20), (60, 60)))
    walk = plan_walk(plan)
    stops = [step.last for step in walk.steps]
    for leg in range(4):
        own = [last for last, step in zip(stops, walk.steps, strict=True) if step.leg == leg + 1]
        travel = np.linalg.norm(np.diff(walk.feet[own, leg, :2], axis=0), axis=1)
        assert travel.max() <= 16.0 + 0.1
    straight = plan_walk(replace(plan, heading=Heading.CRAB))
    assert len(walk.steps) > len(straight.steps)


def test_one_bezier_curve_only_leans_towards_its_points():
    points = ((0.0, 0.0), (60.0, 60.0), (120.0, 0.0))
    bezier = plan_walk(WalkPlan(waypoints=points, curve=Curve.BEZIER))
    spline = plan_walk(WalkPlan(waypoints=points))
    assert bezier.path[:, 1].max() == pytest.approx(30.0, abs=0.01)
    assert spline.path[:, 1].max() == pytest.approx(60.0, abs=0.01)
    for walk in (bezier, spline):
        np.testing.assert_allclose(walk.body[-1, :2], (120, 0), atol=1e-9)


def test_feet_keep_off_edges_and_obstacles_and_stand_on_the_ground():
    terrain = Terrain(steps=(Step(20, 60, -60, 60, 3.0), Step(90, 96, 10, 40, 20.0)))
    walk = plan_walk(replace(LONG, stride=16.0, terrain=terrain))
    stands = walk.support
    x, y, z = np.moveaxis(walk.feet, -1, 0)
    np.testing.assert_allclose(z[stands], terrain.height(x, y)[stands], atol=1e-9)
    for edge in (20, 60):
        assert np.abs(x[stands] - edge).min() >= 2 - 1e-9
    assert not ((x > 88) & (x < 98) & (y > 8) & (y < 42) & stands).any()
    assert walk.body[:, 2].max() == pytest.approx(50.912 + 3, abs=0.01)
    # Low steps are climbed; a wall is stepped round, but a foot that swings through it is told of.
    cut = [w for w in walk.warnings if w.kind is WarningKind.TERRAIN]
    assert cut and {w.leg for w in cut} == {3, 4}
    low = plan_walk(replace(walk.plan, terrain=Terrain(steps=terrain.steps[:1])))
    assert not [w for w in low.warnings if w.kind is WarningKind.TERRAIN]


def test_a_slope_raises_the_body_with_its_feet():
    walk = plan_walk(replace(LONG, terrain=Terrain(slope_deg=8.0, slope_from=40.0)))
    rise = np.tan(np.radians(8))
    feet = walk.feet[walk.support]
    np.testing.assert_allclose(feet[:, 2], np.maximum(0, feet[:, 0] - 40) * rise, atol=1e-9)
    assert walk.body[-1, 2] - walk.body[0, 2] == pytest.approx((4 * S - 40) * rise, rel=0.15)
    assert not [w for w in walk.warnings if w.kind is WarningKind.REACH]


@pytest.mark.parametrize("kind", [LegKind.TTT1, LegKind.TTT2])
@pytest.mark.parametrize("tilt", [0.0, 0.4, 1.0])
def test_a_body_tilts_with_the_ground_by_choice(kind, tilt):
    """Across the slope the heading is kept; feet are where the closed loops put them."""
    walk = plan_walk(
        WalkPlan(
            machine=Machine(kind=kind),
            waypoints=((60.0, 0.0), (90.0, 50.0), (130.0, 60.0)),
            terrain=Terrain(slope_deg=10.0, slope_from=-200.0),
            tilt=tilt,
            sway=3.0,
        )
    )
    rise = np.tan(np.radians(10))
    normal = np.array([-tilt * rise, 0.0, 1.0]) / np.hypot(tilt * rise, 1.0)
    axes = Rotation.from_quat(walk.body[:, 3:], scalar_first=True).as_matrix()
    np.testing.assert_allclose(axes[:, :, 2], np.broadcast_to(normal, (len(axes), 3)), atol=1e-9)
    np.testing.assert_allclose(walk.links[:, :, 8, :3], walk.feet, atol=1e-9)
    feet = walk.feet[walk.support]
    np.testing.assert_allclose(feet[:, 2], (feet[:, 0] + 200) * rise, atol=1e-9)
    at_rest = walk.body[0, :3] - walk.feet[0].mean(axis=0)
    assert at_rest @ normal == pytest.approx(walk.plan.machine.height, abs=1e-9)
    # The sway is computed swing by swing in a kernel, the margin of the frames afterwards.
    assert walk.margin.min() == pytest.approx(3.0, abs=1e-6)


def test_orders_are_judged_for_the_body_as_it_tilts():
    steep = Terrain(slope_deg=35.0, slope_from=-400.0)
    plan = WalkPlan(waypoints=((0.0, 0.0), (50.0, 0.0)), stride=25.0, terrain=steep, tilt=1.0)
    for each in judge_all_orders(plan, lay_route(plan))[::5]:
        walk = plan_walk(replace(plan, order=each.order))
        stands = [frame for step in walk.steps for frame in (step.first, step.last)]
        beyond = walk.plan.machine.leg.overreach(walk.joints[stands]).max()
        assert each.violation == pytest.approx(max(beyond, 0.0), abs=1e-5)
    assert beyond > 0.5


def test_out_of_reach_says_leg_step_and_amount():
    walk = plan_walk(WalkPlan(waypoints=((0.0, 0.0), (400.0, 0.0)), stride=100.0))
    said = [w for w in walk.warnings if w.kind is WarningKind.REACH]
    assert said and all(w.amount > 0 and f"leg {w.leg}" in w.text for w in said)
    assert any("stretched" in w.text and "limit" in w.text for w in said)
    worst = max(said, key=lambda w: w.amount)
    q = walk.joints[worst.frame, worst.leg - 1]
    assert walk.plan.machine.leg.overreach(q) == pytest.approx(worst.amount)


def test_feet_that_come_close_are_flagged():
    machine = Machine(body_length=12.0, body_width=30.0)
    walk = plan_walk(replace(WALKS["straight"], machine=machine))
    assert [w for w in walk.warnings if w.kind is WarningKind.FOOT_GAP]


def test_the_gait_diagram_is_that_of_the_frames():
    walk = plan_walk(WALKS["straight"])
    assert len(walk.steps) == 16 and len(walk.time) == 16 * 12 + 1
    for step in walk.steps:
        assert walk.support[step.first, step.leg - 1] and walk.support[step.last, step.leg - 1]
        assert not walk.support[step.first + 1 : step.last, step.leg - 1].any()
    assert (~walk.support).sum() == sum(step.last - step.first - 1 for step in walk.steps)


@pytest.mark.parametrize(
    "values",
    [{"stride": 0.0}, {"stride": float("nan")}, {"sway": -1.0}, {"frames_per_step": 2},
     {"order": (1, 2, 3, 3)}, {"order": (1, 2)}, {"waypoints": ()}, {"spin_deg": 0.0},
     {"step_time": -1.0}, {"lift": float("inf")}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(values):
    with pytest.raises(LegsError):
        WalkPlan(**values)


def test_a_walk_that_does_not_fit_memory_is_refused():
    with pytest.raises(LegsError, match="frames"):
        plan_walk(WalkPlan(waypoints=((0, 0), (1e8, 0))))


def test_default_machine_stands_at_45_degrees():
    machine = Machine()
    assert machine.height == pytest.approx(36 * sqrt(2))
    assert machine.height == pytest.approx(50.912, abs=1e-3)
    angles = np.degrees(machine.leg.passive_angles(np.zeros((1, 3)))[0])
    np.testing.assert_allclose(angles, (45, 135, 0), atol=1e-12)


def bumps():
    heights = np.random.default_rng(3).uniform(0.0, 1.5, (8, 14))
    heights[[0, -1]] = 0.0
    heights[:, [0, -1]] = 0.0
    return heights


@pytest.mark.parametrize(("kind", "white"), [(np.uint8, 255), (np.uint16, 65535)])
def test_height_maps_from_png_and_npy(tmp_path, kind, white):
    grid = bumps() / 1.5
    Image.fromarray((grid * white).astype(kind)).save(tmp_path / "map.png")
    np.save(tmp_path / "map.npy", bumps())
    png, npy = (
        read_height_map(tmp_path / name, cell=10.0, rise=1.5, start=30.0)
        for name in ("map.png", "map.npy")
    )
    assert (npy.x0, npy.y0) == (30.0, -65.0)
    np.testing.assert_allclose(png.grid, npy.grid, atol=1.5 / white)
    points = npy.x0 + 10.0 * np.arange(8)
    np.testing.assert_allclose(npy.height(points, np.full(8, -35.0)), bumps()[:, 3])
    assert npy.height(np.array([29.9, 1e3]), np.zeros(2)).tolist() == [0.0, 0.0]


def test_feet_stand_on_a_height_map_where_it_is_flat_enough():
    """A ridge across the path: feet stand on its triangles, and beside its flanks."""
    heights = np.zeros((9, 9))
    heights[4] = 4.0
    ridge = HeightMap(heights=tuple(map(tuple, heights.tolist())), cell=5.0, x0=40.0, y0=-20.0)
    middle = np.array([57.5, 60.0]), np.zeros(2)
    np.testing.assert_allclose(ridge.height(*middle), (2.0, 4.0))
    np.testing.assert_allclose(ridge.slope(*middle)[0], 0.8)
    walk = plan_walk(WalkPlan(waypoints=((0.0, 0.0), (96.0, 0.0)), terrain=Terrain(map=ridge)))
    standing = walk.feet[walk.support]
    np.testing.assert_allclose(
        standing[:, 2], walk.plan.terrain.height(standing[:, 0], standing[:, 1]), atol=1e-9
    )
    x, y = np.array([56.0]), np.array([1.0])
    assert ridge.slope(*ridge.flatter(x, y))[0] <= ridge.max_slope < ridge.slope(x, y)[0]
    assert len(ridge.triangles(np.array([[0.0, 0.0]]))) == 0 < len(ridge.triangles())


def npy_header(shape):
    buffer = BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue()


def png_header(side):
    data = b"\x89PNG\r\n\x1a\n"
    size = struct.pack(">2I5B", side, side, 8, 0, 0, 0, 0)
    for kind, content in ((b"IHDR", size), (b"IDAT", b"")):
        crc = zlib.crc32(kind + content)
        data += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)
    return data


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG\r\n\x1a\n", b"\x93NUMPY", b"x" * 100, b"\x89PNG\r\n\x1a\n" + b"\0" * 99,
     b"PK\x03\x04" + b"x" * 99, b"\x93NUMPY\x01\0\x28\x23" + b"-" * 9000, npy_header((3, 3)),
     npy_header((10**6, 10**6)), png_header(100_000)],
)  # fmt: skip
def test_broken_height_maps_are_refused(tmp_path, data):
    (tmp_path / "map.png").write_bytes(data)
    with pytest.raises(LegsError, match="not a height map"):
        read_height_map(tmp_path / "map.png", cell=1.0, rise=1.0, start=0.0)


@pytest.mark.parametrize("kind", ["f8,i4", "c16", "M8[s]", "U3", "O"])
def test_heights_are_real_numbers(tmp_path, kind):
    np.save(tmp_path / "map.npy", np.zeros((3, 3), kind))
    with pytest.raises(LegsError, match="it needs a table of finite numbers"):
        read_height_map(tmp_path / "map.npy", cell=1.0, rise=1.0, start=0.0)


def test_a_slope_downhill_lowers_the_body():
    plan = WalkPlan(terrain=Terrain(slope_deg=-8.0, slope_from=98.0))
    walk = plan_walk(plan)
    fall = walk.body[0, 2] - walk.body[-1, 2]
    # Two of the four feet start half a stride ahead, the mean of all 4 units.
    assert fall == pytest.approx((98.0 - 4.0) * np.tan(np.radians(8.0)))


def test_a_trot_swings_diagonal_legs_together():
    plan = WalkPlan(waypoints=((0.0, 0.0), (160.0, 0.0)), gait=TROT, frames_per_step=20)
    walk = plan_walk(plan)
    assert plan.step_time == TROT.cycle_time / 4 and plan.lift == TROT.lift
    support = walk.support
    np.testing.assert_array_equal(support[:, 0], support[:, 3])
    np.testing.assert_array_equal(support[:, 1], support[:, 2])
    cycle = support[80 * 4 : 80 * 5, 0]
    assert cycle.mean() == pytest.approx(TROT.duty, abs=0.02)
    assert (support.sum(axis=1) >= 2).all() and not walk.warnings
    # Steady in the middle: a stride a cycle; feet on the ground do not move.
    steady = walk.body[80 * 5, 0] - walk.body[80 * 4, 0]
    assert steady == pytest.approx(16.0)
    for leg in range(4):
        stands = support[1:, leg] & support[:-1, leg]
        assert np.abs(np.diff(walk.feet[:, leg], axis=0))[stands].max() < 1e-9
    at_rest = walk.feet[-1] - walk.body[-1, :3]
    np.testing.assert_allclose(at_rest, plan.machine.neutral_feet, atol=1e-9)


def test_a_gait_is_data(tmp_path):
    path = tmp_path / "amble.toml"
    path.write_text('name = "amble"\noffsets = [0.0, 0.25, 0.5, 0.75]\nduty = 0.8\n')
    gait = read_gait(path)
    assert (gait.order, gait.duty, gait.cycle_time) == ((1, 2, 3, 4), 0.8, 0.5)
    walk = plan_walk(WalkPlan(gait=gait))
    assert walk.support.sum(axis=1).min() == 3
    path.write_text("offsets = [0.0, 0.25]\n")
    with pytest.raises(KinetariumError):
        read_gait(path)
    with pytest.raises(LegsError, match="duty"):
        Gait(duty=1.5)
