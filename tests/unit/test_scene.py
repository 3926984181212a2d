"""Scenes: what is refused, who may touch whom, links lumped into bodies."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from kinetarium import KinetariumError, Scene, load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import Box, Inertia, Joint, JointType, Link, RobotModel, Source
from kinetarium.scene import (
    Actuation,
    Base,
    Body,
    DriveMode,
    Material,
    Motion,
    PlacedRobot,
    Plane,
    SceneError,
    WrenchSensor,
    arm_with_cube,
    driving_ground,
    free_body,
    ground,
    two_arms,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.scene.scene import collision_filter
from kinetarium.spatial.arrays import frozen

CUBE = free_body("cube", Box((0.1, 0.1, 0.1)), mass=1.0)
PANDA = PlacedRobot("arm", load_robot("panda"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Scene(bodies=(CUBE, CUBE)),
        lambda: Scene((PANDA,), (replace(CUBE, name="arm"),)),
        lambda: Scene(bodies=(replace(CUBE, name="a/b"),)),
        lambda: Scene(bodies=(replace(CUBE, inertia=None),)),
        lambda: Scene(bodies=(Body("plane", Plane(), Motion.FREE, CUBE.inertia),)),
        lambda: Scene(bodies=(replace(CUBE, X_WB=frozen(np.full((4, 4), np.nan))),)),
        lambda: Scene(bodies=(replace(CUBE, material=Material(-1.0)),)),
        lambda: Scene(bodies=(replace(CUBE, material=Material(0.5, 2.0)),)),
        lambda: Scene(bodies=(replace(CUBE, inertia=Inertia(-1.0, np.zeros(3), np.eye(3))),)),
        lambda: Scene(bodies=(CUBE,), gravity=frozen([0, 0, np.inf])),
        lambda: Scene(bodies=(CUBE,), no_contact=frozenset({frozenset({"cube", "nothing"})})),
        lambda: Scene((replace(PANDA, positions={"nothing": 0.0}),)),
        lambda: Scene((replace(PANDA, positions={"panda_joint1": np.nan}),)),
        lambda: Scene((replace(PANDA, actuation={"panda_joint8": Actuation(DriveMode.TORQUE)}),)),
        lambda: Scene((replace(PANDA, actuation={"panda_joint1": Actuation(effort=-1.0)}),)),
        lambda: Scene((PANDA,), sensors=(WrenchSensor("ft", "arm", "nothing"),)),
        lambda: Scene((PANDA,), sensors=(WrenchSensor("ft", "leg", "panda_joint1"),)),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(make) -> None:
    with pytest.raises(KinetariumError):
        make()


def test_who_may_touch() -> None:
    arm = replace(PANDA, self_collision=True)
    scene = Scene((arm,), (CUBE, ground()), no_contact=frozenset({frozenset({"cube", "ground"})}))
    at = scene.solids.index
    touch = scene.may_collide
    assert np.array_equal(touch, touch.T)
    assert touch[at("arm/panda_link0"), at("arm/panda_link4")]
    assert not touch[at("arm/panda_link3"), at("arm/panda_link4")]  # joined by a joint
    assert not touch[at("arm/panda_link7"), at("arm/panda_hand")]  # fixed together
    assert not touch[at("cube"), at("ground")]
    assert touch[at("cube"), at("arm/panda_hand")]
    assert not Scene((PANDA,)).may_collide.any()  # without self-collision


def test_two_static_bodies_never_touch() -> None:
    assert not Scene(bodies=(ground(), ground(name="floor"))).may_collide.any()


@pytest.mark.parametrize("robot", ["panda", "kr250", "husky4-panda"])
def test_lumping_keeps_the_dynamics(robot: str) -> None:
    """Rebuild the robot from its lumped bodies: the mass matrix must stay."""
    model = load_robot(robot)
    bodies = rigid_tree(model)
    links = tuple(Link(body.name, body.inertia) for body in bodies)
    joints = tuple(
        replace(body.joint, parent=bodies[body.parent].name, X_PJ=body.X_PJ)
        for body in bodies
        if body.joint is not None
    )
    lumped = RobotModel(model.name, links, joints, model.source, free_base=model.free_base)
    whole, small = RobotDynamics(model), RobotDynamics(lumped)
    q = whole.neutral()
    count = len(model.moving_joints)
    q[-count:] = np.linspace(-0.5, 0.5, count)
    M = whole.mass_matrix(q)
    np.testing.assert_allclose(small.mass_matrix(q), M, atol=1e-12 * np.abs(M).max())


def test_a_sensed_joint_is_kept() -> None:
    names = [body.name for body in rigid_tree(load_robot("panda"), keep={"panda_leftpad_joint"})]
    assert "panda_leftpad" in names
    assert "panda_rightpad" not in names


def test_ready_made_scenes() -> None:
    scene = arm_with_cube()
    assert [body.name for body in scene.bodies] == ["table", "cube"]
    vehicle = driving_ground("husky2", slippery={"caster_front": Material(0.0)}).robots[0]
    assert vehicle.base is Base.FREE
    assert vehicle.X_WB[2, 3] > 0
    chaser, target = two_arms(distance=4.2244).robots
    assert chaser.base is Base.FIXED
    assert target.X_WB[0, 3] == 4.2244


def test_fixed_joints_only() -> None:
    source = Source("test", "python", "")
    joint = Joint("j", JointType.FIXED, "a", "b")
    model = RobotModel("r", (Link("a"), Link("b")), (joint,), source)
    (body,) = rigid_tree(model)
    assert body.inertia is None
    with pytest.raises(SceneError):
        Scene((PlacedRobot("r", model, positions={"j": 0.0}),))


def test_collision_groups_open_exactly_the_right_pairs() -> None:
    rng = np.random.default_rng(5)
    for count in (1, 2, 20, 90):
        # Links of a tree, where each may touch all but itself and the ones it is joined to.
        touch = ~np.eye(count, dtype=bool)
        for i in range(1, count):
            parent = int(rng.integers(max(0, i - 4), i))
            touch[i, parent] = touch[parent, i] = False
        groups = collision_filter(touch)
        for i, j in combinations(range(count), 2):
            (a, b), (c, d) = groups[i], groups[j]
            assert bool(a & d or b & c) == touch[i, j]


def test_collision_groups_end_at_32() -> None:
    touch = np.triu(np.random.default_rng(0).random((60, 60)) < 0.5, 1)
    with pytest.raises(SceneError, match="32 collision groups"):
        collision_filter(touch | touch.T)


def test_a_scene_answers_for_its_solids() -> None:
    rough, bouncy = Material(0.9), Material(0.5, 0.3)
    arm = PlacedRobot(
        "arm", load_robot("panda"), material=rough, link_materials={"panda_link7": bouncy}
    )
    scene = Scene(
        (arm, PlacedRobot("flyer", load_robot("panda"), Base.FREE)),
        (ground(), free_body("cube", Box((1, 1, 1)), mass=1.0, material=bouncy)),
        (WrenchSensor("ft", "arm", "panda_joint8"),),
    )
    materials = dict(zip(scene.solids, scene.materials, strict=True))
    assert materials["arm/panda_link0"] is rough and materials["arm/panda_link7"] is bouncy
    assert materials["cube"] is bouncy
    fixed = dict(zip(scene.solids, scene.fixed.tolist(), strict=True))
    assert fixed["arm/panda_link0"] and not fixed["arm/panda_link1"]
    assert not fixed["flyer/panda_link0"] and fixed["ground"] and not fixed["cube"]
    geometry = dict(zip(scene.solids, scene.geometry, strict=True))
    link = arm.model.link("panda_link3")
    assert [shape for shape, _ in geometry["arm/panda_link3"]] == [g.shape for g in link.collisions]
    ((shape, X),) = geometry["cube"]
    assert shape == Box((1, 1, 1)) and np.array_equal(X, np.eye(4))
    assert scene.bounces and not Scene((PlacedRobot("arm", arm.model),), (ground(),)).bounces
    assert scene.sensed_joints("arm") == {"panda_joint8"} and scene.sensed_joints("flyer") == set()
