"""Checks on drives: joint friction behind the inertia of a drive, servos."""

from dataclasses import replace

import numpy as np

from kinetarium.engines.conformance.bodies import TIMESTEP, WEIGHTLESS
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import rotor
from kinetarium.engines.protocol import Capability, Engine, State
from kinetarium.model.robot import Inertia, Link
from kinetarium.scene import PlacedRobot, Scene
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


_JOINTS = frozenset({Capability.JOINTS})

CHECKS = (
    Check("friction-armature", "joint friction stops a light link behind a heavy drive",
          _friction_armature, _JOINTS),
)  # fmt: skip
