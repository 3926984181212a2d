"""Checks on what an engine made of the model: masses, accelerations, M, inverse dynamics."""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.conformance.bodies import TIMESTEP, rounding
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import chain, fingers, four_bar, laden_arm
from kinetarium.engines.protocol import (
    Audit,
    Capability,
    Engine,
    FrictionRule,
    Layout,
    LoadedDrive,
    LoadedLoop,
    LoadedSurface,
    Precision,
    Simulation,
    State,
)
from kinetarium.model.robot import Loop, LoopKind, RobotModel
from kinetarium.scene import (
    Actuation,
    DriveMode,
    Material,
    PlacedRobot,
    Scene,
    WrenchSensor,
    ground,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose


def _driven(engine: Engine, model: RobotModel, timestep: float = TIMESTEP) -> Simulation:
    drives = {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints}
    scene = Scene((PlacedRobot("robot", model, actuation=drives),))
    return engine.compile(scene, timestep=timestep)


def _moving_states(count: int, n: int) -> list[tuple[Array, Array, Array]]:
    """Return seeded positions, velocities and accelerations of n joints."""
    rng = np.random.default_rng(7)
    return [
        (rng.uniform(-1, 1, n), rng.uniform(-2, 2, n), rng.uniform(-5, 5, n)) for _ in range(count)
    ]


def _at(q: Array, v: Array) -> State:
    return State(0.0, q, v, np.zeros((0, 7)), np.zeros((0, 6)))


def _one_step(engine: Engine) -> Measurement:
    errors, reason = _step_errors(engine, TIMESTEP), ""
    if engine.info.implicit_coriolis:
        errors = 2 * errors - _step_errors(engine, 2 * TIMESTEP)
        reason = "implicit Coriolis forces: extrapolated from steps of 1 and 2 ms to none"
    return Measurement(float(np.abs(errors).max()), 0.0, 1e-3, "rad/s^2", reason)


def _step_errors(engine: Engine, timestep: float) -> Array:
    """Return how far accelerations are off after one step [rad/s^2], shape (states, joints)."""
    model = chain()
    dynamics = RobotDynamics(model)
    simulation = _driven(engine, model, timestep)
    errors = []
    for q, v, a in _moving_states(10, 3):
        simulation.reset(_at(q, v))
        simulation.step(dynamics.inverse_dynamics(q, v, a))
        errors.append((simulation.state().v - v) / timestep - a)
    simulation.close()
    return np.array(errors)


def _audit(engine: Engine) -> Measurement:
    scene = audited_scene(engine.info.capabilities)
    simulation = engine.compile(scene, timestep=TIMESTEP)
    audit = simulation.audit()
    simulation.close()
    worst = max(audit_errors(scene, audit, rule=engine.info.friction_rule).values())
    if engine.info.precision is Precision.SINGLE:
        return Measurement(worst, 0.0, 1e-6, "relative", "single precision")
    return Measurement(worst, 0.0, 1e-9, "relative")


def audited_scene(capabilities: Collection[Capability]) -> Scene:
    """Return a scene with something of everything that an engine can be asked to load."""
    contact = Capability.CONTACT in capabilities
    bounce = 0.3 if Capability.RESTITUTION in capabilities else 0.0
    model = laden_arm(touches=contact)
    drives = {
        "shoulder": Actuation(DriveMode.POSITION, 40.0, 3.0, 20.0),
        "wrist": Actuation(DriveMode.VELOCITY, damping=2.0),
        "extend": Actuation(DriveMode.TORQUE, effort=5.0),
    }
    tool = {"tool": Material(0.4, bounce)}
    robots = [
        PlacedRobot("arm", model, actuation=drives, material=Material(0.7), link_materials=tool)
    ]
    if Capability.MIMIC in capabilities:
        robots.append(PlacedRobot("hand", fingers()))
    if Capability.CLOSED_LOOPS in capabilities:
        robots.append(PlacedRobot("linkage", four_bar()))
    wrenches = Capability.JOINT_WRENCH in capabilities
    sensors = (WrenchSensor("flange", "arm", "mount"),) if wrenches else ()
    return Scene(tuple(robots), (ground(Material(0.9)),) if contact else (), sensors)


def audit_errors(scene: Scene, audit: Audit, *, rule: FrictionRule) -> dict[str, float]:
    """Return how far each fact of an audit is from its scene.

    Args:
        rule: How the engine combines the friction of unequal surfaces.

    Returns:
        The greatest error of each fact, by what it is and whose, relative to what it should be
        [-]; lengths and angles in [m, rad], infinite for what is missing. What an engine's
        adapter does not tell at all is left out.
    """
    errors = {"gravity": _off(audit.gravity, scene.gravity)}
    errors |= _inertia_errors(scene, audit) | _joint_errors(scene, audit)
    if audit.drives is not None:
        layout, told = Layout.of(scene), {drive.joint: drive for drive in audit.drives}
        for name, asked in zip(layout.commands, layout.actuations, strict=True):
            errors[f"drive {name}"] = _drive_error(told.get(name), asked)
    errors |= _tie_errors(scene, audit)
    if audit.surfaces is not None:
        errors |= _surface_errors(scene, audit.surfaces, rule)
    return errors


def _off(found: ArrayLike, wanted: ArrayLike) -> float:
    """Return the greatest error of some numbers, relative where they should not be zero."""
    a, b = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    scale = np.where(np.isfinite(b) & (b != 0), np.abs(b), 1.0)
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(a == b, 0.0, np.abs(a - b) / scale), initial=0.0))


def _inertia_errors(scene: Scene, audit: Audit) -> dict[str, float]:
    errors, loaded = {}, {solid.name: solid.inertia for solid in audit.solids}
    for robot in scene.robots:
        for body in rigid_tree(robot.model):
            if body.inertia is None or body.joint is None:
                continue
            there, error = loaded.get(name := f"{robot.name}/{body.name}"), np.inf
            if there:
                moment = np.abs(there.moment - body.inertia.moment).max()
                error = max(
                    _off(there.mass, body.inertia.mass),
                    float(np.abs(there.center - body.inertia.center).max()),
                    float(moment / np.abs(body.inertia.moment).max()),
                )
            errors[f"inertia {name}"] = error
    return errors


def _joint_errors(scene: Scene, audit: Audit) -> dict[str, float]:
    errors, loaded = {}, {joint.name: joint for joint in audit.joints}
    for robot in scene.robots:
        for body in rigid_tree(robot.model):
            joint = body.joint
            if joint is None:
                continue
            there = loaded.get(name := f"{robot.name}/{joint.name}")
            if there is None:
                errors[f"joint {name}"] = np.inf
                continue
            limits = joint.limits
            numbers = (there.damping, there.friction, there.armature, there.lower, there.upper)
            given = (joint.damping, joint.friction, joint.armature, limits.lower, limits.upper)
            axis = float(np.abs(there.axis - joint.axis).max())
            errors[f"joint {name}"] = max(_off(numbers, given), axis)
            if there.X_PJ is not None:
                errors[f"frame {name}"] = float(np.abs(there.X_PJ - body.X_PJ).max())
    return errors


def _drive_error(there: LoadedDrive | None, asked: Actuation) -> float:
    if there is None or there.mode is not asked.drive:
        return np.inf
    stiffness = asked.stiffness if asked.drive is DriveMode.POSITION else 0.0
    damping = 0.0 if asked.drive is DriveMode.TORQUE else asked.damping
    return _off((there.stiffness, there.damping, there.effort), (stiffness, damping, asked.effort))


def _tie_errors(scene: Scene, audit: Audit) -> dict[str, float]:
    """Return the errors of couplings and loops."""
    errors: dict[str, float] = {}
    couplings = {coupling.joint: coupling for coupling in audit.couplings or ()}
    loops = {loop.name: loop for loop in audit.loops or ()}
    for robot in scene.robots:
        for joint in robot.model.moving_joints if audit.couplings is not None else ():
            held = couplings.get(name := f"{robot.name}/{joint.name}")
            if joint.mimic:
                right = held is not None and held.leader == f"{robot.name}/{joint.mimic.joint}"
                numbers = (held.multiplier, held.offset) if held and right else (np.inf, np.inf)
                wanted = (joint.mimic.multiplier, joint.mimic.offset)
                errors[f"coupling {name}"] = _off(numbers, wanted)
            elif held:
                errors[f"coupling {name}"] = np.inf
        homes = {
            link: (f"{robot.name}/{body.name}", X_BL)
            for body in rigid_tree(robot.model)
            for link, X_BL in body.members
        }
        for loop in robot.model.loops if audit.loops is not None else ():
            name = f"{robot.name}/{loop.name}"
            errors[f"loop {name}"] = _loop_error(loops.get(name), loop, homes)
    return errors


def _loop_error(
    there: LoadedLoop | None, loop: Loop, homes: Mapping[str, tuple[str, Array]]
) -> float:
    (a, X_A), (b, X_B) = homes[loop.link_a], homes[loop.link_b]
    if there is None or there.kind is not loop.kind or there.solids != (a, b):
        return np.inf
    X_AC, X_BC = X_A @ loop.X_AC, X_B @ loop.X_BC
    if loop.kind is LoopKind.POINT:
        return float(np.abs(there.points - [X_AC[:3, 3], X_BC[:3, 3]]).max())
    if there.R_AB is None:
        return np.inf
    p_A, p_B = there.points
    X_AB = pose(p_A, there.R_AB) @ pose(-p_B)
    return float(np.abs(X_AB - X_AC @ inverse_pose(X_BC)).max())


def _surface_errors(
    scene: Scene, surfaces: Collection[LoadedSurface], rule: FrictionRule
) -> dict[str, float]:
    """Return the errors of what holds between any two solids that may touch."""
    own: dict[str, list[LoadedSurface]] = {}
    between: dict[frozenset[str], list[LoadedSurface]] = {}
    for surface in surfaces:
        if not surface.against:
            own.setdefault(surface.solid, []).append(surface)
        for other in surface.against:
            between.setdefault(frozenset((surface.solid, other)), []).append(surface)
    materials = dict(zip(scene.solids, scene.materials, strict=True))
    shaped = np.array([len(shapes) > 0 for shapes in scene.geometry], np.bool_)
    meeting = scene.may_collide & np.outer(shaped, shaped) & ~np.outer(scene.fixed, scene.fixed)
    errors: dict[str, float] = {}
    for i, j in np.argwhere(np.triu(meeting)).tolist():
        pair = a, b = scene.solids[i], scene.solids[j]
        found = between.get(frozenset(pair), [])
        friction = rule.combine(materials[a].friction, materials[b].friction)
        # Engines combine unequal restitutions by rules of their own, which lie between the two.
        low, high = sorted(materials[solid].restitution for solid in pair)
        off = [
            max(_off(s.friction, friction), _off(np.clip(s.restitution, low, high), s.restitution))
            for s in found
        ]
        for solid in () if found else pair:
            material = materials[solid]
            given = (material.friction, material.restitution)
            off += [_off((s.friction, s.restitution), given) for s in own.get(solid, ())] or [
                np.inf
            ]
        errors[f"surface {a}, {b}"] = max(off)
    return errors


def _mass_matrix(engine: Engine) -> Measurement:
    model = chain()
    dynamics = RobotDynamics(model)
    simulation = _driven(engine, model)
    worst = 0.0
    for q, v, _ in _moving_states(10, 3):
        simulation.reset(_at(q, v))
        M = dynamics.mass_matrix(q)
        worst = max(
            worst, float(np.abs(simulation.mass_matrix("robot") - M).max() / np.abs(M).max())
        )
    simulation.close()
    return Measurement(worst, 0.0, 1e-9, "relative")


def _inverse_dynamics(engine: Engine) -> Measurement:
    model = chain()
    dynamics = RobotDynamics(model)
    simulation = _driven(engine, model)
    worst = 0.0
    for q, v, a in _moving_states(10, 3):
        simulation.reset(_at(q, v))
        tau = dynamics.inverse_dynamics(q, v, a)
        there = simulation.inverse_dynamics("robot", a)
        worst = max(worst, float(np.abs(there - tau).max() / np.abs(tau).max()))
    simulation.close()
    return Measurement(worst, 0.0, 1e-9, "relative")


def _reset(engine: Engine) -> Measurement:
    simulation = _driven(engine, chain())
    worst = 0.0
    for q, v, _ in _moving_states(5, 3):
        simulation.reset(_at(q, v))
        state = simulation.state()
        worst = max(worst, float(np.abs(state.q - q).max()), float(np.abs(state.v - v).max()))
    simulation.close()
    tolerance, reason = rounding(engine, 1e-12, scale=1.0)
    return Measurement(worst, 0.0, tolerance, "rad or rad/s", reason)


_JOINTS = frozenset({Capability.JOINTS})

CHECKS = (
    Check("audit", "masses, joints, drives, couplings and surfaces are loaded as given", _audit,
          _JOINTS),
    Check("reset", "a state that is set reads back", _reset, _JOINTS),
    Check("one-step", "one step under given torques accelerates as Pinocchio says", _one_step,
          _JOINTS),
    Check("mass-matrix", "the mass matrix is Pinocchio's", _mass_matrix,
          _JOINTS | {Capability.MASS_MATRIX}),
    Check("inverse-dynamics", "inverse dynamics are Pinocchio's", _inverse_dynamics,
          _JOINTS | {Capability.INVERSE_DYNAMICS}),
)  # fmt: skip
