"""Random URDF means to the gate what it means to urdfdom, read through Pinocchio."""

from math import cos, inf, sin
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from kinetarium import RobotFileError, RobotModel, load_robot
from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.model.robot import Box, Capsule, Cylinder, Sphere
from property.random_urdf import RandomUrdf

TOLERANCE = 1e-7
"""Relative; moments of inertia are kept a billionth away from impossible ones."""
NO_LIMIT = 1e12
MIMICS_PINOCCHIO_LACKS = (
    "mimic joint is not in the kinematic tree",  # a follower above its leader
    "configuration spaces have different sizes",  # a follower of a follower
)


def compare(file: RandomUrdf, folder: Path) -> bool:
    """Compare one file in both readers and say whether all of it could be compared."""
    path = folder / "robot.urdf"
    path.write_text(file.text)
    try:
        model = load_robot(path)
    except RobotFileError as error:
        assert file.light and {refusal.code for refusal in error.refusals} == {"massless"}, error
        return False
    codes = {repair.code.value for repair in model.repairs}
    assert file.repairs <= codes <= file.repairs | file.allowed, codes
    reference = pin.buildModelFromXML(file.text)
    whole = sum(inertia.mass for inertia in reference.inertias)
    assert model.mass == pytest.approx(whole, rel=_tolerance(model))
    _compare_limits(model, reference, file.unlimited)
    _compare_shapes(model, reference, file.text)
    if file.tilted:
        return False
    rng = np.random.default_rng(file.seed)
    _compare_motion(model, reference, rng)
    if file.mimics:
        try:
            bound = pin.buildModelFromXML(file.text, True)
        except ValueError as error:
            assert any(limit in str(error) for limit in MIMICS_PINOCCHIO_LACKS), error
            return False
        _compare_coupling(model, bound, rng)
    return True


def _tolerance(model: RobotModel) -> float:
    """Allow for the millionth of mass that the links inside a planar joint are given."""
    given = sum(repair.code == "massless" for repair in model.repairs)
    return TOLERANCE + 1e-5 * given


def _compare_limits(model: RobotModel, reference: pin.Model, unlimited: set[str]) -> None:
    for joint in model.moving_joints:
        index = reference.getJointId(joint.name)
        if joint.name not in set(reference.names) or reference.nvs[index] != 1:
            continue  # a planar joint, which is read as three
        v, q = reference.idx_vs[index], reference.idx_qs[index]
        limits, where = joint.limits, joint.name
        expected = [reference.upperVelocityLimit[v], reference.upperEffortLimit[v]]
        assert [limits.velocity, limits.effort] == [_open(x) for x in expected], where
        assert joint.damping == reference.damping[v], where
        assert joint.friction == reference.upperDryFrictionLimit[v], where
        if reference.nqs[index] == 1 and joint.name not in unlimited:
            bounds = reference.lowerPositionLimit[q], reference.upperPositionLimit[q]
            assert [limits.lower, limits.upper] == [_open(x) for x in bounds], where
        else:
            assert (limits.lower, limits.upper) == (-inf, inf), where


def _open(bound: float) -> float:
    return float(np.copysign(inf, bound)) if abs(bound) >= NO_LIMIT else float(bound)


def _compare_shapes(model: RobotModel, reference: pin.Model, text: str) -> None:
    for kind, part in (("collisions", pin.COLLISION), ("visuals", pin.VISUAL)):
        geometry = pin.buildGeomFromUrdfString(reference, text, part)
        theirs = {
            (reference.frames[shape.parentFrame].name, int(shape.name.rsplit("_", 1)[1])): shape
            for shape in geometry.geometryObjects
        }
        ours = {
            (link.name, i): shape
            for link in model.links for i, shape in enumerate(getattr(link, kind))
        }  # fmt: skip
        assert set(ours) == set(theirs)
        for key, shape in ours.items():
            other = theirs[key]
            frame = reference.frames[other.parentFrame].placement
            np.testing.assert_allclose(
                shape.X_LG, (frame.inverse() * other.placement).homogeneous, atol=1e-9
            )
            assert _sizes(shape.shape) == pytest.approx(_their_sizes(other.geometry)), key


def _sizes(shape: object) -> tuple[float, ...]:
    match shape:
        case Box(size):
            return size
        case Sphere(radius):
            return (radius,)
        case Cylinder(radius, length) | Capsule(radius, length):
            return radius, length
    raise AssertionError(shape)


def _their_sizes(shape) -> tuple[float, ...]:
    match type(shape).__name__:
        case "Box":
            return tuple(2 * shape.halfSide)
        case "Sphere":
            return (shape.radius,)
    return shape.radius, 2 * shape.halfLength


def _their_state(
    model: RobotModel, reference: pin.Model, q: np.ndarray, dynamics: RobotDynamics
) -> tuple[np.ndarray, np.ndarray]:
    """Return Pinocchio's configuration and T with v_pinocchio = T v."""
    at = {name: i for i, name in enumerate(dynamics.velocity_names)}
    value = dict(zip(dynamics.position_names, q, strict=True))
    theirs = pin.neutral(reference)
    T = np.zeros((reference.nv, dynamics.nv))
    for index in range(1, reference.njoints):
        name, kind = reference.names[index], reference.joints[index].shortname()
        iq, iv = reference.idx_qs[index], reference.idx_vs[index]
        if kind == "JointModelFreeFlyer":
            w, x, y, z = q[3:7]
            X_WB = pin.SE3(pin.Quaternion(w, x, y, z), q[:3])
            theirs[:7] = pin.SE3ToXYZQUAT(reference.jointPlacements[index].inverse() * X_WB)
            T[:3, :3] = T[3:6, 3:6] = X_WB.rotation.T
        elif kind == "JointModelPlanar":
            turn = value[name]
            c, s = cos(turn), sin(turn)
            theirs[iq : iq + 4] = value[f"{name}/x"], value[f"{name}/y"], c, s
            T[iv, at[f"{name}/x"]], T[iv, at[f"{name}/y"]] = c, s
            T[iv + 1, at[f"{name}/x"]], T[iv + 1, at[f"{name}/y"]] = -s, c
            T[iv + 2, at[name]] = 1
        elif kind != "JointModelMimic":
            turn = value[name]
            theirs[iq : iq + reference.nqs[index]] = (
                (cos(turn), sin(turn)) if reference.nqs[index] == 2 else turn
            )
            T[iv, at[name]] = 1
    return theirs, T


def _random_state(dynamics: RobotDynamics, rng: np.random.Generator) -> np.ndarray:
    q = rng.uniform(-2, 2, dynamics.nq)
    if dynamics.free_base:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q


def _compare_poses(model: RobotModel, reference: pin.Model, q, q_theirs, dynamics) -> None:
    data = reference.createData()
    pin.framesForwardKinematics(reference, data, q_theirs)
    for link, X in zip(model.links, dynamics.link_poses(q), strict=True):
        frame = reference.getFrameId(link.name, pin.FrameType.BODY)
        if frame < reference.nframes:
            np.testing.assert_allclose(X, data.oMf[frame].homogeneous, atol=1e-7)
        else:
            assert link.name.endswith(("/x", "/y")), link.name


def _assert_close(ours: np.ndarray, theirs: np.ndarray, model: RobotModel) -> None:
    largest = max(1e-3, np.abs(theirs).max())
    np.testing.assert_allclose(ours, theirs, atol=_tolerance(model) * largest)


def _compare_motion(model: RobotModel, reference: pin.Model, rng: np.random.Generator) -> None:
    dynamics = RobotDynamics(model)
    q = _random_state(dynamics, rng)
    q_theirs, T = _their_state(model, reference, q, dynamics)
    _compare_poses(model, reference, q, q_theirs, dynamics)
    if dynamics.nv == 0:
        return
    data = reference.createData()
    M = pin.crba(reference, data, q_theirs)
    M = np.triu(M) + np.triu(M, 1).T
    _assert_close(dynamics.mass_matrix(q), T.T @ M @ T, model)
    g = pin.computeGeneralizedGravity(reference, data, q_theirs)
    _assert_close(dynamics.gravity_forces(q), T.T @ g, model)


def _compare_coupling(model: RobotModel, reference: pin.Model, rng: np.random.Generator) -> None:
    """Compare the robot with its followers bound to their leaders."""
    dynamics, coupling = RobotDynamics(model), Coupling.of(model)
    base = dynamics.nq - coupling.offset.size
    full = _random_state(dynamics, rng)
    independent = np.concatenate([full[:base], rng.uniform(-2, 2, len(coupling.independent))])
    q = coupling.positions(independent)
    q_theirs, T = _their_state(model, reference, q, dynamics)
    _compare_poses(model, reference, q, q_theirs, dynamics)
    E = np.eye(6 if dynamics.free_base else 0)
    E = np.block(
        [
            [E, np.zeros((len(E), len(coupling.independent)))],
            [np.zeros((len(coupling.E), len(E))), coupling.E],
        ]
    )
    # By inverse dynamics, for crba leaves out what couples a follower with a joint between
    # it and its leader.
    zero, data = np.zeros(reference.nv), reference.createData()
    still = pin.rnea(reference, data, q_theirs, zero, zero)
    units = np.eye(reference.nv)
    M = np.column_stack([pin.rnea(reference, data, q_theirs, zero, unit) - still for unit in units])
    T = T @ E
    _assert_close(coupling.matrix(dynamics.mass_matrix(q)), T.T @ M @ T, model)


def _compare_all(first: int, count: int, folder: Path) -> None:
    comparable = 0
    for seed in range(first, first + count):
        file = RandomUrdf(seed)
        try:
            comparable += compare(file, folder)
        except Exception as error:
            raise AssertionError(f"RandomUrdf({seed}).text: {error}") from error
    assert 2 * comparable >= count, comparable


def test_sixty_files(tmp_path: Path) -> None:
    _compare_all(0, 60, tmp_path)


@pytest.mark.slow
def test_two_thousand_files(tmp_path: Path) -> None:
    _compare_all(1000, 2000, tmp_path)
