"""The joint law against a plain solution of its equations, and against its static values."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kinetarium.engines.base.joint_law import JointLaw
from kinetarium.engines.conformance.models import chain
from kinetarium.engines.protocol import Layout
from kinetarium.model.robot import Mimic
from kinetarium.scene import Actuation, DriveMode, PlacedRobot, Scene

H = 1e-3
N = 3


def chain_law(*, efforts, coupled=False, kinds=None):
    """Return the law of a chain of three joints, two with losses, its robot and its layout."""
    model = chain()
    names = [joint.name for joint in model.moving_joints]
    joints = [
        replace(joint, damping=0.1 * i, armature=0.02 * i) for i, joint in enumerate(model.joints)
    ]
    if coupled:
        joints[2] = replace(joints[2], mimic=Mimic(names[0], 0.5, 0.1))
    model = replace(model, joints=tuple(joints))
    kinds = kinds or (DriveMode.TORQUE, DriveMode.POSITION, DriveMode.VELOCITY)
    actuation = {
        name: Actuation(kind, stiffness=300.0, damping=5.0, effort=effort)
        for name, kind, effort in zip(names, kinds, efforts, strict=True)
    }
    robot = PlacedRobot("robot", model, actuation=actuation)
    layout = Layout.of(Scene((robot,)))
    setup = SimpleNamespace(timestep=H, layout=layout)
    return JointLaw(setup, robot, coupling_erp=0.2 if coupled else None), robot, layout


def plain(robot, layout, command, *, q, v, M, bias, before, coupled):
    """Solve the law by NumPy, drive by drive."""
    joints = robot.model.moving_joints
    d = np.array([joint.damping for joint in joints])
    A = np.array([joint.armature for joint in joints])
    load = -bias
    if before is not None:
        load = load + before["M"] @ (v - before["v"]) / H + before["bias"] - before["tau"]
    J = np.array([[-0.5, 0.0, 1.0]]) if coupled else np.zeros((0, N))
    target = 0.2 / H * (0.1 - J @ q) if coupled else np.zeros(0)
    held: dict[int, float] = {}
    while True:
        G, force = d + A / H, A / H * v
        for i, drive in enumerate(layout.actuations):
            if drive.drive is DriveMode.TORQUE:
                force[i] += np.clip(command[i], -drive.effort, drive.effort)
            elif i in held:
                force[i] += held[i]
            elif drive.drive is DriveMode.POSITION:
                force[i] += drive.stiffness * (command[i] - q[i])
                G[i] += drive.damping + H * drive.stiffness
            else:
                force[i] += drive.damping * command[i]
                G[i] += drive.damping
        k = len(target)
        system = np.block([[M + H * np.diag(G), J.T], [J, np.zeros((k, k))]])
        x = np.linalg.solve(system, np.concatenate([M @ v + H * (load + force), target]))
        more = {}
        for i, drive in enumerate(layout.actuations):
            if drive.drive is not DriveMode.TORQUE and i not in held:
                position = drive.drive is DriveMode.POSITION
                wanted = (
                    drive.stiffness * (command[i] - q[i] - H * x[i]) - drive.damping * x[i]
                    if position
                    else drive.damping * (command[i] - x[i])
                )
                if abs(wanted) > drive.effort:
                    more[i] = np.copysign(drive.effort, wanted)
        if not more:
            return force - G * x[:N] - J.T @ x[N:] / H
        held |= more


@pytest.mark.parametrize("coupled", [False, True], ids=["free", "coupled"])
@pytest.mark.parametrize("efforts", [(np.inf,) * 3, (1.0, 2.0, 0.5), (0.0, 0.0, 0.0)], ids=str)
def test_the_kernel_solves_the_law(efforts, coupled) -> None:
    rng = np.random.default_rng(3)
    law, robot, layout = chain_law(efforts=efforts, coupled=coupled)
    before = None
    for _ in range(20):
        root = rng.normal(size=(N, N))
        M, (q, v, bias) = root @ root.T + 0.5 * np.eye(N), rng.normal(size=(3, N))
        command = rng.normal(size=N)
        known = {"q": q, "v": v, "M": M, "bias": bias}
        expected = plain(robot, layout, command, before=before, coupled=coupled, **known)
        tau = law(command, **known | {"M": np.asfortranarray(M)})
        np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9)
        before = {**known, "tau": tau}


def test_a_servo_against_an_obstacle_rests_at_its_static_value() -> None:
    """The obstacle is known from the steps before, and the servo comes to pull as it should."""
    law, _, layout = chain_law(efforts=(np.inf,) * 3, kinds=(DriveMode.POSITION,) * 3)
    M, bias, q, v = np.eye(N), np.zeros(N), np.array([0.1, -0.2, 0.3]), np.zeros(N)
    command = q + np.array([0.01, -0.02, 0.03])
    for _ in range(20):
        tau = law(command, q=q, v=v, M=M, bias=bias)
    np.testing.assert_allclose(tau, 300.0 * (command - q), rtol=1e-9)
    assert not law.only_torques and len(layout.commands) == N


def test_torques_alone_need_no_law() -> None:
    model = chain()
    names = [joint.name for joint in model.moving_joints]
    drives = {name: Actuation(DriveMode.TORQUE, effort=1.0) for name in names}
    robot = PlacedRobot("robot", model, actuation=drives)
    setup = SimpleNamespace(timestep=H, layout=Layout.of(Scene((robot,))))
    law = JointLaw(setup, robot)
    assert law.only_torques
    np.testing.assert_array_equal(law.torques(np.array([0.5, -3.0, 2.0])), [0.5, -1.0, 1.0])
