"""The audit: is what an engine loaded the model, and does one step obey its equations?

A comparison of engines on different models compares models. Masses, inertias, damping and
armature are read back, and the acceleration of one step under known torques at moving
states is held against the robot's equation of motion.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.audit import Audit
from kinetarium.engines.protocol import Engine, State
from kinetarium.errors import KinetariumError
from kinetarium.scene import Scene
from kinetarium.scene.rigid_tree import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_TOLERANCE = 1e-5
"""Largest relative error of a mass, a moment or a coefficient; single precision rounds to 1e-7."""
_STATES = 5
"""How many states are stepped from."""


class AuditError(KinetariumError):
    """An engine that loaded another model than it was given."""


def one_step_error(scene: Scene, *, engine: Engine, options: Any, timestep: float) -> float:
    """Give the largest error of an acceleration after one step [rad/s^2 or m/s^2].

    Args:
        scene: The scene, all joints of its arm driven by torques.
        engine: The engine.
        options: Its options.
        timestep: Physics step [s].

    Raises:
        AuditError: If the engine loaded another model.
    """
    far = frozen(pose((0.0, 0.0, 10.0)) @ scene.bodies[0].X_WB)
    alone = replace(scene, bodies=(replace(scene.bodies[0], X_WB=far),))
    simulation = engine.compile(alone, timestep=timestep, options=options)
    try:
        _check(simulation.audit(), alone)
        start = simulation.state()
        dynamics = RobotDynamics(alone.robots[0].model)
        worst = 0.0
        for q, v, a in _states(start.q):
            simulation.reset(State(0.0, q, v, start.poses, start.twists))
            simulation.step(dynamics.inverse_dynamics(q, v, a))
            reached = (simulation.state().v - v) / timestep
            worst = max(worst, float(np.abs(reached - a).max()))
        return worst
    finally:
        simulation.close()


def _states(home: Array) -> Sequence[tuple[Array, Array, Array]]:
    """Give positions, velocities and accelerations about a posture, the same every time."""
    rng = np.random.default_rng(0)
    reach = np.array([0.3] * 7 + [0.01] * 2)
    return [
        (
            home + rng.uniform(-reach, reach),
            rng.uniform(-2 * reach, 2 * reach),
            rng.uniform(-5 * reach, 5 * reach),
        )
        for _ in range(_STATES)
    ]


def _check(loaded: Audit, scene: Scene) -> None:
    robot = scene.robots[0]
    inertias = {solid.name: solid.inertia for solid in loaded.solids}
    # Links that a sensor splits off count alone in one engine, with their parent in another.
    split = [j.name for j in robot.model.joints if f"{robot.name}/{j.child}" in inertias]
    for body in rigid_tree(robot.model, keep=split):
        if body.joint is None or body.inertia is None:
            continue
        there = inertias[f"{robot.name}/{body.name}"]
        scale = np.abs(body.inertia.moment).max()
        errors = (
            abs(there.mass / body.inertia.mass - 1),
            float(np.abs(there.center - body.inertia.center).max()),
            float(np.abs(there.moment - body.inertia.moment).max() / scale),
        )
        if max(errors) > _TOLERANCE:
            raise AuditError(f"the engine loaded other mass properties of '{body.name}'")
    joints = {f"{robot.name}/{joint.name}": joint for joint in robot.model.moving_joints}
    for joint in loaded.joints:
        given = joints[joint.name]
        for name in ("damping", "friction", "armature"):
            difference = abs(getattr(joint, name) - getattr(given, name))
            if difference > _TOLERANCE * (1 + abs(getattr(given, name))):
                raise AuditError(f"the engine loaded another {name} of '{joint.name}'")
