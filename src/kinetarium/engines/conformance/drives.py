"""Checks on drives: joint friction behind the inertia of a drive, servos."""

from dataclasses import replace

import numpy as np

from kinetarium.engines.conformance.bodies import TIMESTEP, WEIGHTLESS
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import rotor
from kinetarium.engines.protocol import Capability, Engine, State
from kinetarium.model.robot import Inertia, Link
from kinetarium.scene import Actuation, DriveMode, PlacedRobot, Scene
from kinetarium.spatial.arrays import frozen


def _friction_armature(engine: Engine) -> Measurement:
    inertia, armature, friction, speed = 1e-3, 0.24, 1.5, 2.0
    wheel = Link("bar", Inertia(1.0, frozen(np.zeros(3)), frozen(np.eye(3) * inertia)))
    model = rotor()
    joint = replace(model.joints[0], friction=friction, armature=armature)
    model = replace(model, links=(model.links[0], wheel), joints=(joint,))
    scene = Scene((PlacedRobot("robot", model),), gravity=WEIGHTLESS)
    simulation = engine.compile(scene, timestep=TIMESTEP)
    simulation.reset(State(0.0, np.zeros(1), np.array([speed]), np.zeros((0, 7)), np.zeros((0, 6))))
    simulation.step(np.zeros(0), 400)
    stopped = float(simulation.state().q[0])
    simulation.close()
    # Friction takes up the energy of link and drive: (I + A) v^2 / 2 = c q.
    expected = (inertia + armature) * speed**2 / (2 * friction)
    reason = "a step of first order stops sooner by half a step at the first speed"
    return Measurement(stopped, expected, 2e-3, "rad", reason)


def _servo_step(engine: Engine) -> Measurement:
    """Let a servo bring a rotor to a new angle, underdamped, at 22 rad/s."""
    model, target = rotor(), 0.5
    bar = model.link("bar").inertia
    assert bar is not None
    inertia = float(bar.moment[2, 2])
    stiffness, damping = 500.0 * inertia, 20.0 * inertia
    servo = Actuation(DriveMode.POSITION, stiffness=stiffness, damping=damping)
    robot = PlacedRobot("robot", model, actuation={"spindle": servo})
    simulation = engine.compile(Scene((robot,), gravity=WEIGHTLESS), timestep=TIMESTEP)
    # The implicit spring: I (v' - v) / h = K (r - q - h v') - D v', q' = q + h v', so that the
    # error e = r - q and v go on as [e'; v'] = A [e; v].
    h, gives = TIMESTEP, inertia + TIMESTEP * damping + TIMESTEP**2 * stiffness
    speed = np.array([h * stiffness, inertia]) / gives
    A = np.array([np.array([1.0, 0.0]) - h * speed, speed])
    worst = 0.0
    for k in range(1, 11):
        simulation.step(np.array([target]), 30)
        error = np.linalg.matrix_power(A, 30 * k)[0, 0] * target
        worst = max(worst, abs(float(simulation.state().q[0]) - (target - error)))
    simulation.close()
    return Measurement(worst, 0.0, 1e-5, "rad")


_JOINTS = frozenset({Capability.JOINTS})

CHECKS = (
    Check("friction-armature", "joint friction stops a light link behind a heavy drive",
          _friction_armature, _JOINTS),
    Check("servo-step", "a position servo answers a step as its implicit spring", _servo_step,
          _JOINTS),
)  # fmt: skip
