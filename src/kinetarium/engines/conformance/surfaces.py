"""Checks on contact: weight, friction, rolling."""

from math import atan, cos, degrees, pi, radians, sin

import numpy as np

from kinetarium.engines.conformance.bodies import NO_COMMAND, TIMESTEP
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import cart
from kinetarium.engines.protocol import Capability, Engine, Simulation
from kinetarium.model.robot import Box, Capsule, Cylinder, Shape, Sphere
from kinetarium.scene import (
    Actuation,
    Base,
    DriveMode,
    Material,
    PlacedRobot,
    Scene,
    free_body,
    ground,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about

_CUBE = Box((0.1, 0.1, 0.1))
_GRAVITY = 9.81
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
    return frozen([_GRAVITY * sin(angle), 0.0, -_GRAVITY * cos(angle)])


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
    return Measurement(float(force[2]), _GRAVITY, 0.005 * _GRAVITY, "N")


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


_ALONG_Y = rotation_about((1.0, 0.0, 0.0), pi / 2)

_CONTACT = frozenset({Capability.CONTACT})
_ROLLING = frozenset({Capability.CONTACT, Capability.JOINTS, Capability.FREE_BASE})

CHECKS = (
    Check("contact-force", "the contact forces on a resting cube add up to its weight", _weight,
          _CONTACT | {Capability.CONTACT_FORCES}),
    Check("rest-height", "a resting cube neither sinks nor hovers", _rest_depth, _CONTACT),
    Check("incline", "a cube slips at the angle of the friction cone",
          lambda e: _slip_angle(e, (0.5, 0.5)), _CONTACT),
    Check("stick", "a cube inside the friction cone stays", _stick, _CONTACT),
    Check("friction-rule", "unequal surfaces rub by the declared rule",
          lambda e: _slip_angle(e, (0.2, 0.6)), _CONTACT),
    Check("roll-cylinder", "cylinder wheels roll at v = w r",
          lambda e: _roll(e, Cylinder(_WHEEL_RADIUS, 0.06), _ALONG_Y), _ROLLING),
    Check("roll-sphere", "sphere wheels roll at v = w r",
          lambda e: _roll(e, Sphere(_WHEEL_RADIUS), None), _ROLLING),
    Check("roll-capsule", "capsule wheels roll at v = w r",
          lambda e: _roll(e, Capsule(_WHEEL_RADIUS, 0.06), _ALONG_Y), _ROLLING),
)  # fmt: skip
