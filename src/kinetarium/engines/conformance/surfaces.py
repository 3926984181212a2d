"""Checks on contact: weight, friction, rolling, piles, resistance to spinning and rolling."""

from itertools import product
from math import atan, cos, degrees, pi, radians, sin
from typing import NamedTuple

import numpy as np

from kinetarium.engines.conformance.bodies import NO_COMMAND, STEPS, TIMESTEP
from kinetarium.engines.conformance.check import Check, Measurement, once_per_engine
from kinetarium.engines.conformance.models import cart
from kinetarium.engines.protocol import (
    Capability,
    CapabilityError,
    Engine,
    Precision,
    Simulation,
)
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, Capsule, Cylinder, MeshData, Shape, Sphere
from kinetarium.scene import (
    Actuation,
    Base,
    Body,
    DriveMode,
    Material,
    Motion,
    PlacedRobot,
    Scene,
    SceneError,
    free_body,
    ground,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose, rotation_about

_EDGE = 0.1
_CUBE = Box((_EDGE, _EDGE, _EDGE))
_WHEEL_RADIUS = 0.1
_WHEEL_SPEED = 5.0


def _resting(engine: Engine, *, gravity: Array, friction: tuple[float, float]) -> Simulation:
    """Put a cube of 1 kg on the ground."""
    scene = Scene(
        bodies=(
            free_body(
                "cube", _CUBE, mass=1.0, position=(0, 0, 0.05), material=Material(friction[0])
            ),
            ground(Material(friction[1])),
        ),
        gravity=gravity,
    )
    return engine.compile(scene, timestep=TIMESTEP)


def _tilted(angle: float) -> Array:
    return frozen([GRAVITY * sin(angle), 0.0, -GRAVITY * cos(angle)])


def _force_on_cube(simulation: Simulation) -> Array:
    """Add up the contact forces on the cube, whichever side of the pair it is."""
    contacts = simulation.contacts()
    cube = simulation.layout.solids.index("cube")
    signs = (contacts.solids[:, 0] == cube).astype(float) - (contacts.solids[:, 1] == cube)
    return np.asarray(signs @ contacts.forces)


def _weight(engine: Engine) -> Measurement:
    simulation = _resting(engine, gravity=_tilted(0.0), friction=(0.8, 0.8))
    simulation.step(NO_COMMAND, 1000)
    force = _force_on_cube(simulation)
    simulation.close()
    return Measurement(float(force[2]), GRAVITY, 0.005 * GRAVITY, "N")


def _rest_depth(engine: Engine) -> Measurement:
    simulation = _resting(engine, gravity=_tilted(0.0), friction=(0.8, 0.8))
    simulation.step(NO_COMMAND, 1000)
    height = simulation.state().poses[0, 2]
    simulation.close()
    return Measurement(float(height), 0.05, 1e-3, "m")


def _slides(engine: Engine, angle: float, friction: tuple[float, float]) -> float:
    """Return how far the cube slides down a slope in half a second [m]."""
    simulation = _resting(engine, gravity=_tilted(angle), friction=friction)
    simulation.step(NO_COMMAND, 500)
    slid = simulation.state().poses[0, 0]
    simulation.close()
    return float(slid)


def _slip_angle(engine: Engine, friction: tuple[float, float]) -> Measurement:
    """Find the slope on which a cube begins to slide, by halving."""
    expected = atan(engine.info.friction_rule.combine(*friction))
    low, high = expected - radians(4), expected + radians(4)
    for _ in range(6):
        middle = (low + high) / 2
        # One degree past the cone a cube slides some 20 mm; creep inside it is far less than 2 mm.
        if _slides(engine, middle, friction) > 2e-3:
            high = middle
        else:
            low = middle
    return Measurement(degrees((low + high) / 2), degrees(expected), 1.0, "deg")


def _stick(engine: Engine) -> Measurement:
    slid = _slides(engine, atan(0.5) - radians(5), (0.5, 0.5))
    return Measurement(slid, 0.0, 1e-3, "m")


def _friction_force(engine: Engine) -> Measurement:
    gravity = frozen([3.0, 0.0, -9.0])
    simulation = _resting(engine, gravity=gravity, friction=(0.8, 0.8))
    simulation.step(NO_COMMAND, 1000)
    error = np.linalg.norm(_force_on_cube(simulation) + gravity) / np.linalg.norm(gravity)
    simulation.close()
    return Measurement(float(error), 0.0, 0.005, "relative")


def _slide_to_stop(engine: Engine) -> Measurement:
    friction, speed = 0.3, 1.0
    material = Material(friction)
    cube = free_body("cube", _CUBE, mass=1.0, position=(0, 0, 0.05), material=material,
                     twist=(speed, 0, 0, 0, 0, 0))  # fmt: skip
    simulation = engine.compile(Scene(bodies=(cube, ground(material))), timestep=TIMESTEP)
    simulation.step(NO_COMMAND, 600)
    slid = simulation.state().poses[0, 0]
    simulation.close()
    expected = speed**2 / (2 * friction * GRAVITY)
    return Measurement(float(slid), expected, 0.02 * expected, "m")


def _tall_box(engine: Engine, friction: float, angle: float) -> tuple[float, float]:
    """Put a box three times as high as wide on a slope; return how far it slides and tips."""
    material = Material(friction)
    box = free_body("box", Box((0.1, 0.1, 0.3)), mass=1.0, position=(0, 0, 0.15), material=material)
    scene = Scene(bodies=(box, ground(material)), gravity=_tilted(angle))
    simulation = engine.compile(scene, timestep=TIMESTEP)
    simulation.step(NO_COMMAND, 500)
    placed = simulation.state().poses[0]
    simulation.close()
    return float(placed[0]), 2 * float(np.linalg.norm(placed[4:6]))


def _tipping(engine: Engine) -> Measurement:
    edge, margin = atan(1 / 3), radians(2)
    slid, tipped = _tall_box(engine, 0.2, atan(0.2) + margin)
    right = int(slid > 5e-3 and tipped < 0.01)
    slid, tipped = _tall_box(engine, 0.8, edge - margin)
    right += int(slid < 5e-3 and tipped < 0.02)
    slid, tipped = _tall_box(engine, 0.8, edge + margin)
    right += int(tipped > 0.1)
    return Measurement(float(right), 3.0, 0.0)


def _filter(engine: Engine) -> Measurement:
    boards = tuple(
        Body(name, Box((0.2, 0.2, 0.02)), X_WB=frozen(pose((0, 0, z))))
        for name, z in (("ghost", 0.3), ("shelf", 0.2))
    )
    cube = free_body("cube", _CUBE, mass=1.0, position=(0, 0, 0.37))
    excluded = frozenset({frozenset({"cube", "ghost"})})
    simulation = engine.compile(Scene(bodies=(cube, *boards), no_contact=excluded), timestep=1e-3)
    simulation.step(NO_COMMAND, 500)
    height = simulation.state().poses[0, 2]
    simulation.close()
    return Measurement(float(height), 0.26, 1e-3, "m")


def _rest_steps(engine: Engine) -> Measurement:
    worst = 0.0
    for timestep in STEPS:
        cube = free_body("cube", _CUBE, mass=1.0, position=(0, 0, 0.05))
        simulation = engine.compile(Scene(bodies=(cube, ground())), timestep=timestep)
        simulation.step(NO_COMMAND, max(100, round(0.1 / timestep)))
        forces = []
        for _ in range(20):
            simulation.step(NO_COMMAND)
            forces.append(float(_force_on_cube(simulation)[2]))
        simulation.close()
        worst = max(worst, abs(float(np.mean(forces)) / GRAVITY - 1))
    return Measurement(worst, 0.0, 0.005, "relative")


def _roll(engine: Engine, wheel: Shape, turn: Array | None) -> Measurement:
    """Drive a cart and compare its speed with that of its wheels."""
    model = cart(wheel, radius=_WHEEL_RADIUS, turn=turn)
    drive = Actuation(DriveMode.VELOCITY, damping=5.0)
    robot = PlacedRobot(
        "cart",
        model,
        Base.FREE,
        frozen(pose((0.0, 0.0, _WHEEL_RADIUS))),
        actuation={joint.name: drive for joint in model.moving_joints},
    )
    simulation = engine.compile(Scene((robot,), (ground(),)), timestep=TIMESTEP)
    command = np.full(4, _WHEEL_SPEED)
    simulation.step(command, 1000)
    start = simulation.state()
    simulation.step(command, 1000)
    end = simulation.state()
    simulation.close()
    rolled = float(np.mean(end.q - start.q)) * _WHEEL_RADIUS
    return Measurement(float(end.poses[0, 0] - start.poses[0, 0]) / rolled, 1.0, 0.005)


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
    weights = GRAVITY * np.arange(_LEVELS, 0, -1)
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
    weights = GRAVITY * np.array([1001.0, 1000.0])
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
        except (CapabilityError, SceneError):
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
    expected = 5.0 - slope * GRAVITY * 0.5 / (0.4 * _RADIUS**2)
    return Measurement(float(after[5]), expected, 0.01 * 5.0, "rad/s")


def _rolling(engine: Engine) -> Measurement:
    lever = 0.002
    surface = Material(rolling_friction=lever)
    after = _ball(engine, surface, (1.0, 0, 0, 0, 1.0 / _RADIUS, 0), seconds=0.5)
    expected = 1.0 - lever / _RADIUS * GRAVITY * 0.5 / 1.4
    return Measurement(float(after[0]), expected, 2e-3, "m/s")


_ALONG_Y = rotation_about((1.0, 0.0, 0.0), pi / 2)

_CONTACT = frozenset({Capability.CONTACT})
_FORCES = _CONTACT | {Capability.CONTACT_FORCES}
_ROLLING = frozenset({Capability.CONTACT, Capability.JOINTS, Capability.FREE_BASE})

CHECKS = (
    Check("contact-force", "the contact forces on a resting cube add up to its weight", _weight,
          _CONTACT | {Capability.CONTACT_FORCES}, "f = m g", "statics"),
    Check("friction-force", "the contact forces on a cube on a slope hold it", _friction_force,
          _CONTACT | {Capability.CONTACT_FORCES, Capability.FRICTION_FORCES}, "f = -m g",
          "statics"),
    Check("rest-height", "a resting cube neither sinks nor hovers", _rest_depth, _CONTACT,
          "z = edge / 2", "geometry of a rigid cube"),
    Check("rest-steps", "a cube rests with its weight at time steps of 0.1 to 10 ms", _rest_steps,
          _CONTACT | {Capability.CONTACT_FORCES}, "f = m g", "statics"),
    Check("contact-filter", "a cube falls through what it may not touch", _filter, _CONTACT,
          "z = top of the shelf + edge / 2", "geometry of a rigid cube"),
    Check("incline", "a cube slips at the angle of the friction cone",
          lambda e: _slip_angle(e, (0.5, 0.5)), _CONTACT, "tan a = mu", "Coulomb's law"),
    Check("stick", "a cube inside the friction cone stays", _stick, _CONTACT,
          "x = 0 for tan a < mu", "Coulomb's law"),
    Check("friction-rule", "unequal surfaces rub by the declared rule",
          lambda e: _slip_angle(e, (0.2, 0.6)), _CONTACT, "tan a = rule(mu_1, mu_2)",
          "the engine's declared rule"),
    Check("slide-to-stop", "a sliding cube stops where friction has spent its energy",
          _slide_to_stop, _CONTACT, "x = v^2 / (2 mu g)", "Coulomb's law, work of friction"),
    Check("tipping", "a tall box slides, stands or tips", _tipping, _CONTACT,
          "slides for tan a > mu, tips for tan a > width / height", "statics"),
    Check("roll-cylinder", "cylinder wheels roll at v = w r",
          lambda e: _roll(e, Cylinder(_WHEEL_RADIUS, 0.06), _ALONG_Y), _ROLLING, "x = r angle",
          "rolling without slip"),
    Check("roll-sphere", "sphere wheels roll at v = w r",
          lambda e: _roll(e, Sphere(_WHEEL_RADIUS), None), _ROLLING, "x = r angle",
          "rolling without slip"),
    Check("roll-capsule", "capsule wheels roll at v = w r",
          lambda e: _roll(e, Capsule(_WHEEL_RADIUS, 0.06), _ALONG_Y), _ROLLING, "x = r angle",
          "rolling without slip"),
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
