"""How far two descriptions of one robot are apart, by means independent of the product's own."""

import numpy as np

from kinetarium.model.robot import JointType, RobotModel
from kinetarium.spatial.rotation import rotation_about


def link_poses(model: RobotModel, q: np.ndarray) -> dict[str, np.ndarray]:
    """Return the pose of every link in the root frame, joint by joint."""
    values = dict(zip((joint.name for joint in model.moving_joints), q, strict=True))
    poses = {model.root: np.eye(4)}
    for joint in model.joints:
        motion = np.eye(4)
        if joint.type is JointType.PRISMATIC:
            motion[:3, 3] = values[joint.name] * joint.axis
        elif joint.type is not JointType.FIXED:
            motion[:3, :3] = rotation_about(joint.axis, values[joint.name])
        poses[joint.child] = poses[joint.parent] @ joint.X_PJ @ motion
    return poses


def random_positions(model: RobotModel, rng: np.random.Generator) -> np.ndarray:
    """Return joint positions inside the limits, or inside one turn or metre without limits."""
    lower = [max(joint.limits.lower, -1.0) for joint in model.moving_joints]
    upper = [min(joint.limits.upper, 1.0) for joint in model.moving_joints]
    return rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper))


def assert_same_robot(a: RobotModel, b: RobotModel, *, tolerance: float) -> None:
    """Assert equal structure, and equal masses, inertias, limits and kinematics."""
    assert [link.name for link in a.links] == [link.name for link in b.links]
    assert [joint.name for joint in a.joints] == [joint.name for joint in b.joints]
    assert a.free_base == b.free_base
    for one, other in zip(a.links, b.links, strict=True):
        assert (one.inertia is None) == (other.inertia is None), one.name
        assert len(one.collisions) == len(other.collisions)
        assert len(one.visuals) == len(other.visuals)
        if one.inertia and other.inertia:
            scale = np.abs(one.inertia.moment).max()
            assert abs(one.inertia.mass - other.inertia.mass) <= tolerance * one.inertia.mass
            np.testing.assert_allclose(one.inertia.center, other.inertia.center, atol=tolerance)
            np.testing.assert_allclose(
                one.inertia.moment, other.inertia.moment, atol=tolerance * scale
            )
    for one, other in zip(a.joints, b.joints, strict=True):
        assert (one.type, one.parent, one.child) == (other.type, other.parent, other.child)
        assert one.limits == other.limits
        assert one.mimic == other.mimic
        assert (one.damping, one.friction, one.armature) == (
            other.damping, other.friction, other.armature,
        )  # fmt: skip
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = random_positions(a, rng)
        poses = link_poses(b, q)
        for name, X in link_poses(a, q).items():
            np.testing.assert_allclose(poses[name], X, atol=tolerance)
