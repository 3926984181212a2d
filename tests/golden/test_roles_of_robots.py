"""Roles found by geometry alone, against a table of what the joints of public robots are for."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics import link_poses
from kinetarium.model import Link, RobotModel, bounding_box, list_robots
from kinetarium.model.assets import installed_packages
from kinetarium.roles import Roles, find_roles, roles_toml
from needs import public

TRUTH = tomllib.loads((Path(__file__).parent / "roles_truth.toml").read_text("utf-8"))
PACKAGES = installed_packages()
CATALOGUE = [entry.name for entry in list_robots()]
KNEES = "pybullet_data/quadruped/minitaur_fixed_knees.urdf"

MISSES = {
    # A chain of two joints may be anything; --tool makes it an arm.
    "asr_twodof_description/urdf/TwoDofs.urdf": {"arms: J1 .. J2"},
    "pybullet_data/TwoJointRobot_w_fixedJoints.urdf": {"arms: joint_1 .. joint_2"},
    "pybullet_data/TwoJointRobot_wo_fixedJoints.urdf": {"arms: joint_1 .. joint_2"},
    # The fingertips are fixed in these files: no surfaces meet.
    "talos_data/robots/talos_left_arm.urdf": {"grippers: gripper_left_joint -"},
    **{
        f"talos_data/robots/talos_reduced{kind}.urdf": {
            "grippers: gripper_left_joint -",
            "grippers: gripper_right_joint -",
        }
        for kind in ("", "_box", "_corrected")
    },
    # Legs of one joint each are like any other part that turns.
    KNEES: {
        "base: free",
        *(f"legs: {leg}" for leg in TRUTH[KNEES]["legs"]),
    },
}
FALSE_HITS = {
    KNEES: {"base: fixed"},
    # Five links and joints in a row, as an arm has.
    "pybullet_data/pendulum5.urdf": {"arms: joint0 .. joint4"},
}
SHORT = [
    "alex_description/urdf/alex_sake_hands.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "human_description/robots/human.urdf",
    "iris_description/robots/iris.urdf",
    "kinova_description/robots/kinova.urdf",
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo_small.urdf",
    "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
    "talos_data/robots/talos_left_arm.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
    "z1_description/urdf/z1.urdf",
    "pybullet_data/r2d2.urdf",
    KNEES,
    "pybullet_data/pendulum5.urdf",
    *CATALOGUE,
]
"""Robots of every kind that load quickly."""


def load(name: str) -> RobotModel:
    if name in CATALOGUE:
        return load_robot(name)
    package, _, rest = name.partition("/")
    if package == "pybullet_data":
        return load_robot(public(package, rest))
    return load_robot(public("example-robot-data", f"robots/{name}"))


def statements(roles: Roles) -> set[str]:
    """What roles state, in the words of the table."""

    def gripper(each) -> str:
        if len(each.open) < 3:
            return f"{each.leader} {'+' if each.closing > 0 else '-'}"
        thumb = next((f for f in each.fingers[:2] if any(j in THUMBS for j in f.joints)), None)
        return f"{each.palm} with {thumb.joints[0] if thumb else 'no thumb'}"

    wheels = roles.wheels
    return {
        f"base: {roles.base.kind}",
        *(f"arms: {arm.joints[0]} .. {arm.joints[-1]}" for arm in roles.arms),
        *(f"legs: {leg.joints[0]} .. {leg.joints[-1]}" for leg in roles.legs),
        *(f"grippers: {gripper(each)}" for each in roles.grippers),
        *(f"driven: {wheel.joint}" for wheel in wheels if wheel.driven),
        *(f"steered: {wheel.joint}" for wheel in wheels if wheel.steered),
        *(f"casters: {wheel.joint}" for wheel in wheels if wheel.caster),
    }


def truth(name: str) -> set[str]:
    table = TRUTH[name]
    lists = ((key, value) for key, value in table.items() if key != "base")
    return {
        f"base: {table['base']}",
        *(f"{key}: {each}" for key, value in lists for each in value),
    }


THUMBS = {
    each.partition(" with ")[2] for table in TRUTH.values() for each in table.get("grippers", ())
}


def check(name: str) -> None:
    model = load(name)
    roles = find_roles(model, beside=False)
    found, expected = statements(roles), truth(name)
    assert expected - found == MISSES.get(name, set())
    assert found - expected == FALSE_HITS.get(name, set())
    for gripper in roles.grippers:
        check_closing(model, gripper)


def check_closing(model: RobotModel, gripper) -> None:
    """The middles of two moving pads that meet are nearer where the gripper is closed."""
    if len(gripper.open) > 2 or not all(finger.joints for finger in gripper.fingers[:2]):
        return
    apart = []
    for state in (gripper.open, gripper.closed):
        q = []
        for joint in model.moving_joints:
            leader = joint.mimic.joint if joint.mimic else joint.name
            ratio = joint.mimic.multiplier if joint.mimic else 1.0
            q.append(ratio * state.get(leader, 0.0) + (joint.mimic.offset if joint.mimic else 0.0))
        poses = dict(zip((link.name for link in model.links), link_poses(model, q), strict=True))
        tips = [
            (poses[finger.pad] @ middle(model.link(finger.pad)))[:3]
            for finger in gripper.fingers[:2]
        ]
        apart.append(np.linalg.norm(tips[0] - tips[1]))
    assert apart[1] < apart[0]


def middle(link: Link) -> np.ndarray:
    geometry = (*link.collisions, *link.visuals)[0]
    return geometry.X_LG @ [*bounding_box(geometry.shape).mean(axis=0), 1.0]


@pytest.mark.parametrize("name", SHORT)
def test_roles_are_those_of_the_table(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TRUTH if name not in SHORT])
def test_roles_of_all_robots_are_those_of_the_table(name: str) -> None:
    check(name)


def test_the_table_has_every_robot_that_loads() -> None:
    from golden.test_public_robots import FILES, REFUSED

    listed = {name for name in TRUTH if name not in CATALOGUE and "pybullet" not in name}
    if FILES:
        root = PACKAGES["example-robot-data"] / "robots"
        assert listed == {str(f.relative_to(root)) for f in FILES if f.name not in REFUSED}
    assert set(CATALOGUE) < set(TRUTH) and len(listed) == 66


@pytest.mark.parametrize("name", ["husky4-panda", "pr2_description/urdf/pr2.urdf"])
def test_written_roles_read_back(name: str, tmp_path: Path) -> None:
    model = load(name)
    roles = find_roles(model)
    file = tmp_path / "robot.roles.toml"
    file.write_text(roles_toml(roles))
    assert find_roles(model, roles=file) == roles
