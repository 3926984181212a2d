"""Causes found from the terms alone, as if no audit showed anything."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.inertial_parameters import inertial_parameters
from kinetarium.model.robot import Inertia
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_rpy
from kinetarium.studies.dynamics.backends.reference import PinocchioBackend
from kinetarium.studies.dynamics.diagnosis.diagnose import diagnose
from kinetarium.studies.dynamics.diagnosis.hypothesis import (
    Assumed,
    motion_contradictions,
    term_contradictions,
)
from kinetarium.studies.dynamics.diagnosis.linear import inseparable
from kinetarium.studies.dynamics.finding import Cause, Difference
from kinetarium.studies.dynamics.override import Override
from kinetarium.studies.dynamics.states import Terms, draw_states

PANDA = load_robot("panda")
STATES = draw_states(PANDA, count=30, seed=0)
R = rotation_from_rpy([0.3, 0.2, 0.9])


def inertia(link: str) -> Inertia:
    found = PANDA.link(link).inertia
    assert found is not None
    return found


LINK3, LINK5, HAND = inertia("panda_link3"), inertia("panda_link5"), inertia("panda_hand")
JOINT4 = PANDA.joint("panda_joint4")


def terms_with(override: Override) -> Terms:
    robot = override.applied(PANDA)
    return PinocchioBackend(robot, gravity=override.gravity, reference=PANDA).terms(STATES)


def diagnosed(terms: Terms) -> tuple[Difference, ...]:
    return diagnose(Assumed(PANDA, GRAVITY_VECTOR), STATES, terms, tolerance=1e-12)


def test_nothing_is_found_in_a_sound_robot() -> None:
    assert diagnosed(terms_with(Override())) == ()


@pytest.mark.parametrize(
    ("override", "cause", "where", "size"),
    [
        (Override(inertials={"panda_link3": replace(LINK3, mass=4.0)}),
         Cause.MASS, "panda_link3", 4.0 - LINK3.mass),
        (Override(inertials={"panda_hand": replace(HAND, mass=0.8)}),
         Cause.MASS, "panda_hand", 0.07),
        (Override(inertials={"panda_link5": replace(LINK5, center=LINK5.center + 0.01)}),
         Cause.CENTER_OF_MASS, "panda_link5", np.sqrt(3) * 0.01),
        (Override(inertials={"panda_link3": replace(LINK3, moment=LINK3.moment[::-1, ::-1])}),
         Cause.INERTIA_AXES, "panda_link3", None),
        (Override(inertials={"panda_link5": replace(LINK5, moment=R @ LINK5.moment @ R.T)}),
         Cause.INERTIA_FRAME, "panda_link5", None),
        (Override(inertials={"panda_link5": replace(LINK5, moment=3 * LINK5.moment)}),
         Cause.INERTIA_SCALE, "panda_link5", 3.0),
        (Override(inertials={"panda_hand": None}), Cause.DROPPED_INERTIAL, "panda_hand", -0.73),
        (Override(armature={"panda_joint4": 0.1}), Cause.ARMATURE, "panda_joint4", 0.1),
        (Override(gravity=frozen([0, 0, 9.81])), Cause.GRAVITY, "world", 19.62),
        (Override(gravity=frozen([0, -9.81, 0])), Cause.GRAVITY, "world", np.sqrt(2) * 9.81),
        (Override(axes={"panda_joint4": -JOINT4.axis}), Cause.JOINT_AXIS, "panda_joint4", np.pi),
        (Override(axes={"panda_joint4": rotation_about([1, 0, 0], 0.05) @ JOINT4.axis}),
         Cause.JOINT_AXIS, "panda_joint4", 0.05),
        (Override(origins={"panda_joint4": pose([0.01, 0, 0]) @ JOINT4.X_PJ}),
         Cause.JOINT_ORIGIN, "panda_joint4", 0.01),
    ],
)  # fmt: skip
def test_a_single_cause_is_named(
    override: Override, cause: Cause, where: str, size: float | None
) -> None:
    (found,) = diagnosed(terms_with(override))
    assert (found.cause, found.where) == (cause, where)
    if size is not None:
        assert found.size == pytest.approx(size, rel=1e-6)


def test_resistance_that_counts_in_tau_is_named() -> None:
    sound = terms_with(Override())
    c, tau = sound.c.copy(), sound.tau.copy()
    for values in (c, tau):
        values[:, 7] += 0.3 * STATES.v[:, 7]
        values[:, 2] += 0.2 * np.sign(STATES.v[:, 2])
    found = diagnosed(replace(sound, c=c, tau=tau))
    assert {(x.cause, x.where, round(x.size or 0.0, 9)) for x in found} == {
        (Cause.DAMPING, "panda_finger_joint1", 0.3),
        (Cause.FRICTION, "panda_joint3", 0.2),
    }


def test_exchanged_joints_are_named() -> None:
    order = [0, 1, 4, 3, 2, 5, 6, 7, 8]
    swapped = replace(STATES, q=STATES.q[:, order], v=STATES.v[:, order], a=STATES.a[:, order])
    terms = PinocchioBackend(PANDA, gravity=GRAVITY_VECTOR, reference=PANDA).terms(swapped)
    (found,) = diagnosed(terms.of_joints(order))
    assert (found.cause, found.where) == (Cause.JOINT_ORDER, "panda_joint3, panda_joint5")


def test_several_causes_are_taken_apart() -> None:
    override = Override(
        gravity=frozen([0, 0, 9.81]),
        armature={"panda_joint4": 0.1},
        inertials={"panda_link3": replace(LINK3, mass=4.0)},
    )
    found = diagnosed(terms_with(override))
    assert {(x.cause, x.where) for x in found} == {
        (Cause.GRAVITY, "world"),
        (Cause.ARMATURE, "panda_joint4"),
        (Cause.MASS, "panda_link3"),
    }


def test_an_armature_in_every_joint_is_named_joint_by_joint() -> None:
    names = [joint.name for joint in PANDA.moving_joints]
    found = diagnosed(terms_with(Override(armature=dict.fromkeys(names, 0.1))))
    assert [(x.cause, x.where) for x in found] == [(Cause.ARMATURE, name) for name in names]
    np.testing.assert_allclose([x.size for x in found if x.size], 0.1)


def test_what_cannot_be_told_apart_is_said_so() -> None:
    """Of the first link only the moment about its vertical axis shows, as an armature would."""
    override = Override(inertials={"panda_link1": replace(inertia("panda_link1"), mass=9.0)})
    (found,) = diagnosed(terms_with(override))
    assert found.cause is Cause.INSEPARABLE
    assert "panda_link1: mass 9 instead of" in found.text
    assert "joint panda_joint1: armature" in found.text


def test_no_cause_is_guessed() -> None:
    sound = terms_with(Override())
    found = diagnosed(replace(sound, g=sound.g + np.sin(7 * STATES.q)))
    assert [x.cause for x in found] == [Cause.UNEXPLAINED]
    assert found[0].text.startswith("g differ")


def test_the_rank_of_the_regressor_is_told() -> None:
    """The 7 joints of a Panda, its fingers held, have 43 base parameters (Gaz et al., 2019)."""
    arm = replace(
        PANDA,
        links=tuple(x for x in PANDA.links if "finger" not in x.name and "pad" not in x.name),
        joints=tuple(x for x in PANDA.joints if "finger" not in x.child and "pad" not in x.child),
    )
    found = inseparable(arm, draw_states(arm, count=60, seed=0), gravity=GRAVITY_VECTOR)
    assert "show 43 combinations of the 70" in found.text
    assert found.size == 27


def test_regressor_is_linear_in_the_parameters() -> None:
    dynamics = RobotDynamics(PANDA, free_base=False)
    bodies = [body for body in rigid_tree(PANDA) if body.joint]
    parameters = np.concatenate([inertial_parameters(body.inertia) for body in bodies])
    for q, v, a in zip(STATES.q[:5], STATES.v[:5], STATES.a[:5], strict=True):
        tau = dynamics.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(dynamics.regressor(q, v, a) @ parameters, tau, atol=1e-12)


def test_regressor_of_a_free_base() -> None:
    dynamics = RobotDynamics(PANDA, free_base=True)
    parameters = np.concatenate([inertial_parameters(b.inertia) for b in rigid_tree(PANDA)])
    rng = np.random.default_rng(4)
    base = np.concatenate([rng.normal(size=3), rng.normal(size=4)])
    q, v, a = np.concatenate([base, STATES.q[0]]), *rng.normal(size=(2, dynamics.nv))
    tau = dynamics.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(dynamics.regressor(q, v, a) @ parameters, tau, atol=1e-11)


@pytest.mark.parametrize("free_base", [False, True])
def test_joint_derivatives_are_finite_differences(free_base: bool) -> None:
    dynamics = RobotDynamics(PANDA, free_base=free_base)
    rng = np.random.default_rng(5)
    base = rng.normal(size=7) if free_base else np.zeros(0)
    q, v, a = np.concatenate([base, STATES.q[0]]), *rng.normal(size=(2, dynamics.nv))
    by_q, by_v = dynamics.joint_derivatives(q, v, a)
    h, joints = 1e-6, len(PANDA.moving_joints)
    assert by_q.shape == by_v.shape == (dynamics.nv, joints)
    for j in range(joints):
        dq, dv = np.zeros(dynamics.nq), np.zeros(dynamics.nv)
        dq[dynamics.nq - joints + j] = dv[dynamics.nv - joints + j] = h
        tau = dynamics.inverse_dynamics
        slope = (tau(q + dq, v, a) - tau(q - dq, v, a)) / (2 * h)
        np.testing.assert_allclose(by_q[:, j], slope, atol=1e-7)
        slope = (tau(q, v + dv, a) - tau(q, v - dv, a)) / (2 * h)
        np.testing.assert_allclose(by_v[:, j], slope, atol=1e-7)


def test_an_armature_in_one_place_only_is_a_contradiction() -> None:
    """So does MuJoCo's own mj_rne, which leaves out what mj_fullM has."""
    names = tuple(joint.name for joint in PANDA.moving_joints)
    sound = terms_with(Override())
    tau = sound.tau.copy()
    tau[:, 3] -= 0.1 * STATES.a[:, 3]
    found = list(term_contradictions(names, STATES, replace(sound, tau=tau), tolerance=1e-9))
    assert [(x.cause, x.where) for x in found] == [(Cause.ARMATURE, "panda_joint4")]
    assert "in M but not in tau" in found[0].text
    assert not list(term_contradictions(names, STATES, sound, tolerance=1e-9))
    tau[:, 3] = sound.tau[:, 3] + 0.1 * STATES.q[:, 3]
    found = list(term_contradictions(names, STATES, replace(sound, tau=tau), tolerance=1e-9))
    assert [(x.cause, x.where) for x in found] == [(Cause.INCONSISTENT, "panda_joint4")]


def test_resistance_in_the_motion_alone_is_named() -> None:
    names = tuple(joint.name for joint in PANDA.moving_joints)
    missing = np.zeros_like(STATES.v)
    missing[:, 1] = -0.4 * STATES.v[:, 1]
    missing[:, 2] = -0.5 * np.sign(STATES.v[:, 2])
    missing[:, 3] = -0.5 * STATES.v[:, 3]
    missing[:, 4] = 1e-14
    found = list(
        motion_contradictions(names, STATES, missing, known={"panda_joint4"}, tolerance=1e-9)
    )
    assert [(x.cause, x.where) for x in found] == [
        (Cause.DAMPING, "panda_joint2"),
        (Cause.FRICTION, "panda_joint3"),
    ]
    assert found[0].size == pytest.approx(0.4)


@pytest.mark.parametrize(
    "change",
    [{"mass": 2.0}, {"moment": 0.5 * inertia("panda_link1").moment}],
    ids=["mass", "moment"],
)
def test_impossible_causes_are_never_offered(change: dict[str, Any]) -> None:
    """A lighter first link acts like a negative armature, and like a negative mass."""
    light = replace(inertia("panda_link1"), **change)
    (found,) = diagnosed(terms_with(Override(inertials={"panda_link1": light})))
    assert found.where == "panda_link1"
    assert "armature" not in found.text and "mass -" not in found.text


def test_an_armature_that_is_lost_is_possible() -> None:
    driven = Override(armature={"panda_joint4": 0.1}).applied(PANDA)
    found = diagnose(
        Assumed(driven, GRAVITY_VECTOR), STATES, terms_with(Override()), tolerance=1e-12
    )
    assert [(x.cause, x.where) for x in found] == [(Cause.ARMATURE, "panda_joint4")]
    assert "is lost" in found[0].text
