"""What two descriptions of a robot differ in: every planted fault is named at the right place."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics.inertial_parameters import (
    inertia_of,
    inertial_parameters,
    moved,
    steiner,
)
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    Mimic,
    RobotModel,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about, rotation_from_rpy
from kinetarium.studies.dynamics.differences.body import body_differences
from kinetarium.studies.dynamics.differences.inertia import inertia_differences
from kinetarium.studies.dynamics.differences.model import model_differences
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity

R = rotation_from_rpy([0.3, 0.2, 0.9])
BODY = Inertia(
    2.0,
    frozen([0.1, -0.05, 0.2]),
    frozen(R @ np.diag([0.01, 0.02, 0.027]) @ R.T),
)
DIAGONAL = replace(BODY, moment=frozen(np.diag([0.01, 0.02, 0.027])))
ROD = replace(BODY, moment=frozen(np.diag([0.001, 0.02, 0.02])))
PRODUCTS = BODY.moment - np.diag(np.diag(BODY.moment))


@pytest.mark.parametrize(
    ("found", "causes"),
    [
        (BODY, []),
        (replace(BODY, mass=2.5), [Cause.MASS]),
        (Inertia(3.0, BODY.center, frozen(1.5 * BODY.moment)), [Cause.MASS]),
        (replace(BODY, center=frozen([0.1, -0.05, 0.21])), [Cause.CENTER_OF_MASS]),
        (replace(BODY, moment=frozen(2 * BODY.moment)), [Cause.INERTIA_SCALE]),
        (replace(BODY, moment=frozen(BODY.moment[::-1, ::-1])), [Cause.INERTIA_AXES]),
        (replace(BODY, moment=frozen(BODY.moment - 2 * PRODUCTS)), [Cause.INERTIA_AXES]),
        (replace(BODY, moment=frozen(R @ BODY.moment @ R.T)), [Cause.INERTIA_FRAME]),
        (replace(BODY, moment=frozen(BODY.moment + steiner(2.0, BODY.center))),
         [Cause.INERTIA_FRAME]),
        (moved(BODY, pose((0, 0, 0), R)), [Cause.INERTIA_FRAME]),
        (moved(BODY, pose((0, 0, 0), np.diag([1.0, -1.0, 1.0]))), [Cause.INERTIA_FRAME]),
        (replace(BODY, moment=frozen(BODY.moment + np.diag([0.001, 0, 0]))), [Cause.INERTIA]),
        (replace(BODY, mass=2.5, center=frozen([0.1, 0.0, 0.2])),
         [Cause.MASS, Cause.CENTER_OF_MASS]),
        (Inertia(1.0, frozen([0, 0, 0]), frozen(np.eye(3))), [Cause.REPLACED_INERTIAL]),
        (None, [Cause.DROPPED_INERTIAL]),
    ],
)  # fmt: skip
def test_changed_inertias_have_names(found: Inertia | None, causes: list[Cause]) -> None:
    named = inertia_differences(BODY, found, tolerance=1e-9)
    assert [each.cause for each in named] == causes


def test_mass_out_of_nothing() -> None:
    (each,) = inertia_differences(None, BODY, tolerance=1e-9)
    assert (each.cause, each.size) == (Cause.REPLACED_INERTIAL, 2.0)
    assert inertia_differences(None, None, tolerance=1e-9) == ()


@pytest.mark.parametrize(("angle", "axis"), [(0.3, [0, 0, 1]), (1.2, [1, 0, 0]), (2.0, [0, 1, 0])])
def test_the_turn_of_an_inertia_is_measured(angle: float, axis: list[float]) -> None:
    turn = rotation_about(axis, angle)
    found = replace(DIAGONAL, moment=frozen(turn @ DIAGONAL.moment @ turn.T))
    (each,) = inertia_differences(DIAGONAL, found, tolerance=1e-9)
    least = min(angle, np.pi - angle)
    assert f"{np.degrees(least):.4g} degrees" in each.text


def test_a_rod_shows_only_how_its_axis_turns() -> None:
    turn = rotation_about([0, 0, 1], 0.4) @ rotation_about([1, 0, 0], 1.0)
    found = replace(ROD, moment=frozen(turn @ ROD.moment @ turn.T))
    (each,) = inertia_differences(ROD, found, tolerance=1e-9)
    assert f"{np.degrees(0.4):.4g} degrees about z" in each.text


def test_inertial_parameters_add_up_and_read_back() -> None:
    again = inertia_of(inertial_parameters(BODY))
    assert again is not None
    assert not inertia_differences(BODY, again, tolerance=1e-12)
    assert inertia_of(np.zeros(10)) is None
    model = load_robot("panda")
    hand = next(body for body in rigid_tree(model) if body.name == "panda_link7")
    parts = [(model.link(name).inertia, X_BL) for name, X_BL in hand.members]
    total = sum(inertial_parameters(moved(inertia, X)) for inertia, X in parts if inertia)
    np.testing.assert_allclose(total, inertial_parameters(hand.inertia), atol=1e-15)


PANDA = load_robot("panda")


def with_link(name: str, **changes: object) -> RobotModel:
    return replace(
        PANDA,
        links=tuple(replace(x, **changes) if x.name == name else x for x in PANDA.links),
    )


def with_joint(name: str, **changes: object) -> RobotModel:
    return replace(
        PANDA,
        joints=tuple(replace(x, **changes) if x.name == name else x for x in PANDA.joints),
    )


def differences(other: RobotModel) -> list[Difference]:
    return list(model_differences(PANDA, other).differences)


def faults(other: RobotModel) -> list[tuple[Cause, str]]:
    return [(x.cause, x.where) for x in differences(other) if x.severity is Severity.FAULT]


def without(link: str) -> RobotModel:
    links = {link}
    for joint in PANDA.joints:
        if joint.parent in links:
            links.add(joint.child)
    return replace(
        PANDA,
        links=tuple(link for link in PANDA.links if link.name not in links),
        joints=tuple(joint for joint in PANDA.joints if joint.child not in links),
    )


JOINT4 = PANDA.joint("panda_joint4")
HAND = PANDA.link("panda_hand").inertia
assert HAND is not None


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (PANDA, []),
        (with_link("panda_hand", inertia=replace(HAND, mass=1.0)), [(Cause.MASS, "panda_hand")]),
        (with_link("panda_link5", inertia=None), [(Cause.DROPPED_INERTIAL, "panda_link5")]),
        (with_link("panda_hand", inertia=None), [(Cause.LOST_LINK, "panda_hand")]),
        (with_joint("panda_joint4", axis=frozen(-JOINT4.axis)),
         [(Cause.JOINT_AXIS, "panda_joint4")]),
        (with_joint("panda_joint4", X_PJ=frozen(pose([0, 0, 0.01]) @ JOINT4.X_PJ)),
         [(Cause.JOINT_ORIGIN, "panda_joint4")]),
        (with_joint("panda_joint4", X_PJ=frozen(JOINT4.X_PJ @ pose((0, 0, 0), R))),
         [(Cause.JOINT_ORIGIN, "panda_joint4")]),
        (with_joint("panda_joint4", damping=0.3), [(Cause.DAMPING, "panda_joint4")]),
        (with_joint("panda_joint4", friction=0.3), [(Cause.FRICTION, "panda_joint4")]),
        (with_joint("panda_joint4", armature=0.3), [(Cause.ARMATURE, "panda_joint4")]),
        (with_joint("panda_joint4", type=JointType.FIXED), [(Cause.STRUCTURE, "panda_joint4")]),
        (with_joint("panda_joint4", type=JointType.PRISMATIC),
         [(Cause.STRUCTURE, "panda_joint4")]),
        (with_joint("panda_finger_joint2", mimic=Mimic("panda_finger_joint1", -1.0)),
         [(Cause.COUPLING, "panda_finger_joint2")]),
    ],
)  # fmt: skip
def test_faults_between_two_files(other: RobotModel, expected: list[tuple[Cause, str]]) -> None:
    assert faults(other) == expected


def test_lost_links() -> None:
    finger = without("panda_rightfinger")
    assert faults(finger) == [
        (Cause.STRUCTURE, "panda_finger_joint2"),
        (Cause.STRUCTURE, "panda_rightfinger"),
        (Cause.LOST_LINK, "panda_rightpad"),
    ]
    massless = [link.name for link in PANDA.links if link.inertia is None]
    leaf = next(x for x in massless if all(j.parent != x for j in PANDA.joints))
    assert faults(without(leaf)) == []
    assert (Cause.STRUCTURE, leaf) in [(x.cause, x.where) for x in differences(without(leaf))]


def two_parts(*, lumped: bool, lost: bool = False) -> RobotModel:
    """Return an arm with a fixed flange, kept apart, lumped into the arm, or lost."""
    X = pose([0.3, 0, 0], R)
    arm, flange = DIAGONAL, replace(BODY, mass=0.5)
    if lumped:
        whole = inertia_of(inertial_parameters(arm) + inertial_parameters(moved(flange, X)))
        links = (Link("base"), Link("arm", whole))
    else:
        links = (Link("base"), Link("arm", arm), Link("flange", None if lost else flange))
    joints = (
        Joint("hinge", JointType.REVOLUTE, "base", "arm", axis=frozen([0, 1, 0])),
        Joint("mount", JointType.FIXED, "arm", "flange", X_PJ=frozen(X)),
    )
    return RobotModel("arm", links, joints[: len(links) - 1], PANDA.source)


def test_merged_links_are_the_same_robot() -> None:
    apart, lumped = two_parts(lumped=False), two_parts(lumped=True)
    found = model_differences(apart, lumped).differences
    assert [(x.cause, x.where, x.severity) for x in found] == [
        (Cause.MERGED_LINKS, "flange", Severity.NOTE)
    ]
    found = model_differences(lumped, apart).differences
    assert {x.severity for x in found} == {Severity.NOTE}


def test_a_lost_link_is_not_taken_for_a_merged_one() -> None:
    apart = two_parts(lumped=False)
    bare = replace(apart, links=apart.links[:2], joints=apart.joints[:1])
    (each,) = model_differences(apart, bare).differences
    assert (each.cause, each.where, each.size) == (Cause.LOST_LINK, "flange", -0.5)
    (added,) = model_differences(bare, apart).differences
    assert (added.cause, added.where, added.size) == (Cause.STRUCTURE, "flange", 0.5)


def test_twins_that_are_fixed_together_are_both_named() -> None:
    """A link and another in the same place: their sum does not tell which of them is heavier."""
    frame = Joint("mount", JointType.FIXED, "arm", "twin")
    hinge = Joint("hinge", JointType.REVOLUTE, "base", "arm", axis=frozen([0, 1, 0]))
    links = (Link("base"), Link("arm", BODY), Link("twin", BODY))
    model = RobotModel("twins", links, (hinge, frame), PANDA.source)
    total = inertial_parameters(BODY) + inertial_parameters(replace(BODY, mass=2.2))
    body = rigid_tree(model)[1]
    (found,) = body_differences(model, body, inertia_of(total), tolerance=1e-9)
    assert (found.cause, found.where) == (Cause.MASS, "arm, twin")
    assert "does not tell which" in found.text


def test_names_do_not_make_another_robot() -> None:
    other = replace(
        PANDA,
        links=tuple(replace(x, name=f"arm_{x.name}") for x in PANDA.links),
        joints=tuple(
            replace(
                x,
                name=f"arm_{x.name}",
                parent=f"arm_{x.parent}",
                child=f"arm_{x.child}",
                mimic=x.mimic and replace(x.mimic, joint=f"arm_{x.mimic.joint}"),
            )
            for x in PANDA.joints
        ),
    )
    found = model_differences(PANDA, other).differences
    assert {(x.cause, x.severity) for x in found} == {(Cause.NAMES, Severity.NOTE)}
    parts = [x.name for x in PANDA.links] + [x.name for x in PANDA.joints]
    assert sorted(x.where for x in found) == sorted(parts)


def test_joint_order() -> None:
    def arm(*order: str) -> RobotModel:
        links = (Link("base"), *(Link(f"{x}_link", BODY) for x in order))
        joints = tuple(
            Joint(x, JointType.REVOLUTE, "base", f"{x}_link", axis=frozen([0, 1, 0])) for x in order
        )
        return RobotModel("fork", links, joints, PANDA.source)

    (each,) = model_differences(arm("left", "right"), arm("right", "left")).differences
    assert (each.cause, each.where) == (Cause.JOINT_ORDER, "left, right")


def test_other_link_frames_do_not_make_another_robot() -> None:
    """Turn and shift the frame of link 4, all that hangs on it staying where it is."""
    X = pose([0.02, -0.03, 0.0], rotation_about(JOINT4.axis, 0.7))
    X[:3, 3] = JOINT4.axis * 0.05  # along the axis, or the joint would move
    back = inverse_pose(X)
    inertia = PANDA.link("panda_link4").inertia
    assert inertia is not None
    moved_link = with_link("panda_link4", inertia=moved(inertia, back))
    joints = []
    for joint in moved_link.joints:
        if joint.name == "panda_joint4":
            joint = replace(
                joint, X_PJ=frozen(joint.X_PJ @ X), axis=frozen(back[:3, :3] @ joint.axis)
            )
        elif joint.parent == "panda_link4":
            joint = replace(joint, X_PJ=frozen(back @ joint.X_PJ))
        joints.append(joint)
    found = differences(replace(moved_link, joints=tuple(joints)))
    assert found
    assert {x.severity for x in found} == {Severity.NOTE}


def test_limits_are_a_note() -> None:
    found = differences(with_joint("panda_joint4", limits=JointLimits(-1.0, 1.0)))
    assert [(x.cause, x.severity) for x in found] == [(Cause.LIMITS, Severity.NOTE)]


def test_a_displaced_massless_frame_is_a_note() -> None:
    massless = [link.name for link in PANDA.links if link.inertia is None]
    leaf = next(x for x in massless if all(j.parent != x for j in PANDA.joints))
    joint = PANDA.parent_joint[leaf]
    found = differences(with_joint(joint.name, X_PJ=frozen(pose([0, 0, 0.1]) @ joint.X_PJ)))
    assert [(x.cause, x.where, x.severity) for x in found] == [
        (Cause.JOINT_ORIGIN, joint.name, Severity.NOTE)
    ]


def test_exchanged_joint_origins_are_one_fault() -> None:
    a, b = PANDA.joint("panda_joint3"), PANDA.joint("panda_joint5")
    other = replace(
        PANDA,
        joints=tuple(
            replace(joint, X_PJ={a.name: b, b.name: a}[joint.name].X_PJ)
            if joint.name in (a.name, b.name)
            else joint
            for joint in PANDA.joints
        ),
    )
    (found,) = (each for each in differences(other) if each.severity is Severity.FAULT)
    assert (found.cause, found.where) == (Cause.JOINT_ORIGIN, "panda_joint3, panda_joint5")
    assert "exchanged" in found.text
