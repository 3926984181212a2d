"""Checks on several bodies in contact, and on resistance to spinning and rolling."""

from itertools import product
from math import pi
from typing import NamedTuple

import numpy as np

from kinetarium.engines.conformance.bodies import NO_COMMAND, TIMESTEP
from kinetarium.engines.conformance.check import Check, Measurement, once_per_engine
from kinetarium.engines.protocol import Capability, Engine, Precision, Simulation
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, Capsule, Cylinder, MeshData, Shape, Sphere
from kinetarium.scene import Body, Material, Motion, Scene, SceneError, free_body, ground
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about

_GRAVITY = 9.81
_EDGE = 0.1
_CUBE = Box((_EDGE, _EDGE, _EDGE))
_LEVELS = 10


def _pile(engine: Engine, masses: list[float], *, steps: int) -> Simulation:
    """Stack cubes of given masses [kg] on the ground, and let time pass."""
    cubes = [
        free_body(f"cube{i}", _CUBE, mass=mass, position=(0.0, 0.0, (i + 0.5) * _EDGE))
        for i, mass in enumerate(masses)
    ]
    simulation = engine.compile(Scene(bodies=(*cubes, ground())), timestep=TIMESTEP)
    simulation.step(NO_COMMAND, steps)
    return simulation


def _loads(simulation: Simulation) -> Array:
    """Return the force [N] with which each cube of a pile rests on what is below it."""
    contacts, solids = simulation.contacts(), simulation.layout.solids
    loads = np.zeros(len(solids) - 1)
    # The ground is the last solid, and below the first.
    level = np.array([*range(1, len(solids)), 0])[contacts.solids]
    for (a, b), force in zip(level, contacts.forces, strict=True):
        loads[max(a, b) - 1] += force[2] if a > b else -force[2]
    return loads


class _Stack(NamedTuple):
    """Ten cubes after half of a run and at its end: positions [m], loads [N]."""

    middle: Array
    end: Array
    loads: Array


@once_per_engine
def _stack(engine: Engine) -> _Stack:
    simulation = _pile(engine, [1.0] * _LEVELS, steps=300)
    middle = simulation.state().poses[:, :3]
    simulation.step(NO_COMMAND, 300)
    end = simulation.state().poses[:, :3]
    forces = Capability.CONTACT_FORCES in engine.info.capabilities
    loads = _loads(simulation) if forces else np.zeros(_LEVELS)
    simulation.close()
    return _Stack(middle, end, loads)


def _stack_forces(engine: Engine) -> Measurement:
    weights = _GRAVITY * np.arange(_LEVELS, 0, -1)
    loads = _stack(engine).loads
    return Measurement(float(np.abs(loads / weights - 1).max()), 0.0, 0.005, "relative")


def _stack_rest(engine: Engine) -> Measurement:
    stack = _stack(engine)
    return Measurement(float(np.abs(stack.end - stack.middle).max()), 0.0, 5e-4, "m")


def _stack_depth(engine: Engine) -> Measurement:
    gaps = np.diff(np.array([-_EDGE / 2, *_stack(engine).end[:, 2]]))
    return Measurement(float(np.abs(gaps - _EDGE).max()), 0.0, 1e-3, "m")


def _mass_ratio(engine: Engine) -> Measurement:
    simulation = _pile(engine, [1.0, 1000.0], steps=1000)
    loads = _loads(simulation)
    simulation.close()
    weights = _GRAVITY * np.array([1001.0, 1000.0])
    return Measurement(float(np.abs(loads / weights - 1).max()), 0.0, 0.005, "relative")


_KINDS = ("sphere", "box", "capsule", "cylinder", "hull")


def _lying(kind: str, size: float, *, turn: float) -> tuple[Shape, Array]:
    """Return a shape as high as its size [m], and the rotation in which it lies."""
    R = rotation_about((0.0, 0.0, 1.0), turn)
    match kind:
        case "sphere":
            return Sphere(size / 2), R
        case "box":
            return Box((size, size, size)), R
        case "capsule":
            return Capsule(size / 2, size), R @ rotation_about((1.0, 0.0, 0.0), pi / 2)
        case "cylinder":
            return Cylinder(size / 2, size), R
        case _:
            return MeshData("hull", triangulate(Cylinder(size / 2, size), segments=12)), R


def _rest_on(engine: Engine, low: str, high: str) -> float:
    """Put a shape on a larger one that is fixed; return how far it has moved in 0.1 s [m].

    No longer, since a ball on a ball rolls off by a rounding error at last. The upper one is
    turned, so that capsules cross and edges do not coincide.
    """
    below, R_low = _lying(low, 0.15, turn=0.0)
    above, R_high = _lying(high, 0.1, turn=pi / 2 if high == "capsule" else 0.3)
    table = Body("table", below, Motion.STATIC, X_WB=frozen(pose((0.0, 0.0, -0.075), R_low)))
    body = free_body("body", above, mass=1.0, position=(0.0, 0.0, 0.05), rotation=R_high)
    simulation = engine.compile(Scene(bodies=(body, table)), timestep=TIMESTEP)
    simulation.step(NO_COMMAND, 100)
    place = simulation.state().poses[0, :3]
    simulation.close()
    return float(np.linalg.norm(place - (0.0, 0.0, 0.05)))


def _shape_pairs(engine: Engine) -> Measurement:
    worst, reason, tolerance = 0.0, "", 1e-3
    if engine.info.precision is Precision.SINGLE:
        reason, tolerance = "hulls tremble in single precision", 3e-3
    for low, high in product(_KINDS, repeat=2):
        try:
            worst = max(worst, _rest_on(engine, low, high))
        except SceneError:
            if "hull" not in (low, high):
                raise
            reason = "without hulls, which it refuses"
    return Measurement(worst, 0.0, tolerance, "m", reason)


_RADIUS = 0.1


def _ball(engine: Engine, material: Material, twist: tuple[float, ...], *, seconds: float) -> Array:
    """Let a ball of 1 kg on the ground move; return its twist after a time [s]."""
    ball = free_body("ball", Sphere(_RADIUS), mass=1.0, position=(0.0, 0.0, _RADIUS), twist=twist,
                     material=material)  # fmt: skip
    simulation = engine.compile(Scene(bodies=(ball, ground(material))), timestep=TIMESTEP)
    simulation.step(NO_COMMAND, round(seconds / TIMESTEP))
    after: Array = simulation.state().twists[0]
    simulation.close()
    return after


def _spinning(engine: Engine) -> Measurement:
    slope = 0.002
    after = _ball(engine, Material(spinning_friction=slope), (0, 0, 0, 0, 0, 5.0), seconds=0.5)
    expected = 5.0 - slope * _GRAVITY * 0.5 / (0.4 * _RADIUS**2)
    return Measurement(float(after[5]), expected, 0.01 * 5.0, "rad/s")


def _rolling(engine: Engine) -> Measurement:
    lever = 0.002
    surface = Material(rolling_friction=lever)
    after = _ball(engine, surface, (1.0, 0, 0, 0, 1.0 / _RADIUS, 0), seconds=0.5)
    expected = 1.0 - lever / _RADIUS * _GRAVITY * 0.5 / 1.4
    return Measurement(float(after[0]), expected, 2e-3, "m/s")


_CONTACT = frozenset({Capability.CONTACT})
_FORCES = _CONTACT | {Capability.CONTACT_FORCES}

CHECKS = (
    Check("stack-forces", "each of ten stacked cubes carries the weight above", _stack_forces,
          _FORCES, "f_i = (10 - i) m g", "statics"),
    Check("stack-rest", "ten stacked cubes stay where they are", _stack_rest, _CONTACT,
          "x(0.6 s) = x(0.3 s)", "statics"),
    Check("stack-depth", "ten stacked cubes do not sink into each other", _stack_depth, _CONTACT,
          "z_i - z_{i-1} = edge", "geometry of rigid cubes"),
    Check("mass-ratio", "a cube of 1 kg carries one of 1000 kg", _mass_ratio,
          _FORCES | {Capability.MASS_RATIOS},
          "f = 1001 m g and 1000 m g", "statics"),
    Check("shape-pairs", "each of five shapes rests on each: sphere, box, capsule, cylinder, hull",
          _shape_pairs, _CONTACT, "distance of centres = sum of half heights",
          "geometry of rigid shapes"),
    Check("spinning-friction", "a ball that spins on the spot is slowed down", _spinning,
          _CONTACT | {Capability.SPINNING_FRICTION}, "w = w_0 - 5 c g t / (2 r^2)",
          "Coulomb's law of pivoting friction, torque <= c f"),
    Check("rolling-friction", "a ball that rolls is slowed down", _rolling,
          _CONTACT | {Capability.ROLLING_FRICTION}, "v = v_0 - 5 c g t / (7 r)",
          "Coulomb's law of rolling friction, torque <= c f"),
)  # fmt: skip
