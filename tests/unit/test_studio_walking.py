import json

import numpy as np
import pytest

from kinetarium.errors import KinetariumError
from kinetarium.legs import Heading, LegKind, Machine, Step, Terrain, WalkPlan, plan_walk
from kinetarium.legs.mechanism.machine import link_mesh
from kinetarium.legs.quadruped import quadruped_mjcf
from kinetarium.storage.serialization import to_builtins
from kinetarium.studio._walking import (
    MOST_WAYPOINTS,
    UNIT,
    joint_table,
    walk_facts,
    walk_replay,
    walk_request,
    walking_routes,
)
from kinetarium.studio.http import HttpError, Request
from unit.replay_reader import ReplayReader

PLAN, FILES = walking_routes()


def post(body, name=None):
    """Ask a route as the page does."""
    headers = {"content-type": "application/json"}
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    asked = Request("POST", "/", {}, headers, text, {"name": name} if name else {})
    return (FILES if name else PLAN).answer(asked)


def walks(body):
    """Return the head of the answer and a reader of each walk."""
    data = post(body).body
    start = 4 + int.from_bytes(data[:4], "little")
    head = json.loads(data[4:start])
    readers = []
    for facts in head["walks"]:
        readers.append(ReplayReader(data[start : start + facts["bytes"]]))
        start += facts["bytes"]
    assert start == len(data)
    return head, readers


def test_the_plan_of_a_page_that_asks_for_nothing_is_the_default_one():
    head, (reader,) = walks({})
    assert head["plan"] == to_builtins(WalkPlan())
    walk = plan_walk(WalkPlan())
    assert head["walks"][0]["order"] == list(walk.order)
    assert head["walks"][0]["table1_row"] == 1
    assert head["walks"][0]["frames"] == len(reader.time) == len(walk.time)


@pytest.mark.parametrize("heading", ["turn", "crab", "spin"])
def test_walks_arrive_as_they_were_planned(heading):
    asked = {"plan": {"heading": heading, "sway": 2.0}, "kinds": ["ttr", "ttt1"]}
    head, readers = walks(asked)
    assert [facts["kind"] for facts in head["walks"]] == ["ttr", "ttt1"]
    for kind, reader in zip((LegKind.TTR, LegKind.TTT1), readers, strict=True):
        plan = WalkPlan(heading=Heading(heading), sway=2.0, machine=Machine(kind=kind))
        walk = plan_walk(plan)
        thigh = reader.poses("leg3/thigh")
        np.testing.assert_allclose(thigh[:, :3], walk.links[:, 2, 4, :3] * UNIT, atol=3e-7)
        turns = np.abs(np.vecdot(thigh[:, 3:], walk.links[:, 2, 4, 3:]))
        np.testing.assert_allclose(turns, 1.0, atol=1e-6)
        np.testing.assert_allclose(
            reader.channel("joints"), walk.joints.reshape(-1, 12), rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(reader.channel("margin")[:, 0], walk.margin, atol=1e-5)
        assert np.array_equal(reader.channel("support") > 0.5, walk.support)


def test_facts_tell_what_goes_wrong_and_where_the_body_stands():
    walk = plan_walk(WalkPlan(order=(2, 1, 4, 3)))
    facts = walk_facts(walk)
    assert facts["warning_count"] == len(walk.warnings) > 0
    assert "outside the support" in facts["warnings"][0]["text"]
    assert facts["warnings"][0]["frame"] == walk.warnings[0].frame
    assert len(facts["steps"]) == len(walk.steps)
    first, last = facts["markers"][0], facts["markers"][-1]
    assert len(facts["markers"]) == len(walk.steps) // 4 + 1
    np.testing.assert_allclose(np.diff(facts["markers"], axis=0)[:, 0], walk.stride)
    np.testing.assert_allclose(first[:2], walk.body[0, :2])
    np.testing.assert_allclose(last[:2], walk.body[-1, :2])
    assert first[2] == last[2] == 0.0
    assert len(facts["shapes"]) == 9


def test_the_ground_is_drawn_under_the_feet():
    terrain = Terrain(slope_deg=6.0, slope_from=30.0, steps=(Step(60, 80, -1e5, 1e5, 9.0),))
    walk = plan_walk(WalkPlan(terrain=terrain))
    solids = {solid.name: solid for solid in walk_replay(walk).solids}
    (wedge,) = solids["slope"].meshes
    x, y, z, w, i, _, _ = solids["slope"].poses[0]
    turn = 2 * np.arctan2(i, w)
    rows = wedge.mesh.vertices
    height = y * 0 + z + np.sin(turn) * rows[:, 1] + np.cos(turn) * rows[:, 2]
    along = x + rows[:, 0]
    top = height > 1e-9
    np.testing.assert_allclose(
        height[top], terrain.height(along[top] / UNIT, np.full(top.sum(), 1e6)) * UNIT, atol=1e-9
    )
    (block,) = solids["step1"].meshes
    assert block.mesh.vertices[:, 2].max() == pytest.approx(9.0 * UNIT)
    assert np.abs(block.mesh.vertices[:, 1]).max() < 2.0  # only what lies near the path


@pytest.mark.parametrize("turn", [1, -1])
def test_a_prism_is_closed_and_faces_outwards(turn):
    shape = Machine().link_shapes[0][4]
    section = shape.section[::turn]
    mesh = link_mesh(type(shape)("bar", section, 2.0, -3.0), unit_m=UNIT)
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    volume = np.vecdot(a, np.cross(b, c)).sum() / 6
    side = abs(section[0][0]) * 2
    assert volume == pytest.approx(side**2 * 5.0 * UNIT**3)


def test_the_table_of_joints_has_every_frame():
    walk = plan_walk(WalkPlan(machine=Machine(kind=LegKind.TTR, foot_offset=12.0)))
    head, *rows = joint_table(walk).splitlines()
    assert head.split(",")[5:8] == ["leg1_h_x", "leg1_omega_rad", "leg1_v_z"]
    table = np.array([[float(value) for value in row.split(",")] for row in rows])
    assert np.array_equal(table[:, 5:17], walk.joints.reshape(-1, 12))
    assert np.array_equal(table[:, 0], walk.time)


def test_files_are_what_the_command_line_reads(tmp_path):
    from kinetarium.legs import load_machine

    machine = Machine(kind=LegKind.TTT1, gain=5.0)
    asked = {"plan": {"machine": to_builtins(machine)}}
    (tmp_path / "m.json").write_bytes(post(asked, "machine.json").body)
    assert load_machine(tmp_path / "m.json") == machine
    assert post(asked, "walker.xml").body.decode() == quadruped_mjcf(machine)
    saved = json.loads(post(asked, "walk.json").body)
    assert saved["plan"] == to_builtins(WalkPlan(machine=machine))
    assert saved["facts"][0]["kind"] == "ttt1"
    with pytest.raises(HttpError, match=r"joints\.csv"):
        post(asked, "passwd")


BAD = {
    "no object": [],
    "no plan": {"plan": 3},
    "unknown field": {"plan": {"strid": 3}},
    "unknown kind": {"kinds": ["ttt9"]},
    "text for a number": {"plan": {"stride": "long"}},
    "no step": {"plan": {"stride": -1}},
    "not a number": b'{"plan": {"stride": NaN}}',
    "infinite": b'{"plan": {"waypoints": [[0, 0], [1e999, 0]]}}',
    "a number too long": b'{"plan": {"frames_per_step": ' + b"9" * 4000 + b"}}",
    "a number too great": {"plan": {"waypoints": [[0, 0], [1e300, 0]]}},
    "no waypoint": {"plan": {"waypoints": []}},
    "one waypoint": {"plan": {"waypoints": [[0, 0]]}},
    "the same waypoints": {"plan": {"waypoints": [[1, 1], [1, 1]]}},
    "waypoints in space": {"plan": {"waypoints": [[0, 0, 0], [1, 1, 1]]}},
    "too many waypoints": {"plan": {"waypoints": [[i, 0] for i in range(MOST_WAYPOINTS + 1)]}},
    "too long a walk": {"plan": {"waypoints": [[0, 0], [1e8, 0]]}},
    "too long a step": {"plan": {"step_time": 11.0}},
    "too many blocks": {
        "plan": {"terrain": {"steps": [{"x0": 0, "x1": 1, "y0": 0, "y1": 1, "height": 1}] * 51}}
    },
    "two links": {
        "plan": {"machine": {"shapes": [{"name": "", "section": [], "top": 1, "bottom": 0}] * 2}}
    },
    "no section": {
        "plan": {"machine": {"shapes": [{"name": "", "section": [], "top": 1, "bottom": 0}] * 9}}
    },
    "upside down": {
        "plan": {
            "machine": {
                "shapes": [{"name": "", "section": [[0, 0], [1, 0], [0, 1]], "top": 0, "bottom": 1}]
                * 9
            }
        }
    },
    "nested": b'{"plan": ' + b"[" * 900 + b"]" * 900 + b"}",
    "no JSON": b"{",
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_a_bad_plan_is_refused_in_words(body):
    with pytest.raises(KinetariumError) as refused:
        post(body)
    assert "\n" not in str(refused.value)


def test_kinds_are_walked_once_each():
    asked = walk_request({"kinds": ["ttt1", "ttt1", "ttr"]})
    assert asked.kinds == (LegKind.TTT1, LegKind.TTR)
    assert asked.plan.machine.kind is LegKind.TTT1
    assert walk_request({"kinds": []}).kinds == (LegKind.TTT2,)


def test_the_path_is_drawn_on_the_ground():
    terrain = Terrain(slope_deg=6.0, slope_from=30.0, steps=(Step(60, 80, -9, 9, 5.0),))
    walk = plan_walk(WalkPlan(waypoints=((0, 0), (128, 0)), terrain=terrain))
    (guide,) = walk_replay(walk).guides
    x, y, z = guide.points.T / UNIT
    np.testing.assert_allclose(z, terrain.height(x, y) + 0.1, atol=1e-5)
    # Between its corners, too: no bend of the ground is left out, nor a step cut short.
    dense = np.linspace(0.0, 128.0, 2001)[1:-1]
    edges = np.abs(dense[:, np.newaxis] - [60, 80]).min(axis=1) > 1e-3
    level = np.interp(dense, x, z)
    np.testing.assert_allclose(
        level[edges], terrain.height(dense, 0 * dense)[edges] + 0.1, atol=1e-4
    )
