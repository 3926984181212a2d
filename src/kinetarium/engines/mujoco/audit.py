"""A MuJoCo model read back into the terms of the scene."""

from collections.abc import Sequence
from math import inf

import mujoco
import numpy as np

from kinetarium.engines.mujoco.build import UNBOUNDED
from kinetarium.engines.protocol import Audit, Layout, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion


def audit(model: mujoco.MjModel, layout: Layout) -> Audit:
    """Read back masses, joints and gravity.

    Args:
        model: The scene as MuJoCo compiled it.
        layout: The layout of the scene.
    """
    # Pose of each body in the frame of the topmost body it is welded to, parents first.
    poses = [pose()]
    for i in range(1, model.nbody):
        X_PB = pose(model.body_pos[i], rotation_from_quaternion(model.body_quat[i]))
        welded = model.body_weldid[i] != i
        poses.append(poses[model.body_parentid[i]] @ X_PB if welded else pose())
    solids = []
    for top in np.unique(model.body_weldid[1:]):
        if top:  # the world and what is fixed to it do not move
            members = np.flatnonzero(model.body_weldid == top)
            names = tuple(model.body(i).name for i in members)
            inertia = _lumped([_inertia(model, int(i), poses[i]) for i in members])
            solids.append(LoadedSolid(names[0], inertia, names))
    joints = tuple(_joint(model, name) for name in layout.joints)
    return Audit(tuple(solids), joints, frozen(model.opt.gravity), _remarks(model))


def _inertia(model: mujoco.MjModel, body: int, X_TB: Array) -> Inertia:
    """Return the inertia of one body in the frame of its topmost body."""
    R_BI = rotation_from_quaternion(model.body_iquat[body])
    R = X_TB[:3, :3] @ R_BI
    center = X_TB[:3, :3] @ model.body_ipos[body] + X_TB[:3, 3]
    return Inertia(
        float(model.body_mass[body]), frozen(center), frozen(R * model.body_inertia[body] @ R.T)
    )


def _lumped(parts: Sequence[Inertia]) -> Inertia:
    """Add up inertias in one frame (parallel axis theorem)."""
    mass = sum(part.mass for part in parts)
    center = np.sum([part.mass * part.center for part in parts], axis=0) / mass
    moment = np.zeros((3, 3))
    for part in parts:
        d = part.center - center
        moment += part.moment + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, frozen(center), frozen(moment))


def _joint(model: mujoco.MjModel, name: str) -> LoadedJoint:
    joint = model.joint(name)
    dof = int(joint.dofadr[0])
    lower, upper = joint.range if joint.limited[0] else (-inf, inf)
    return LoadedJoint(
        name=name,
        axis=frozen(joint.axis),
        damping=float(model.dof_damping[dof]),
        friction=float(model.dof_frictionloss[dof]),
        armature=float(model.dof_armature[dof]),
        lower=float(lower) if lower > -UNBOUNDED else -inf,
        upper=float(upper) if upper < UNBOUNDED else inf,
    )


def _remarks(model: mujoco.MjModel) -> tuple[str, ...]:
    remarks = []
    shortest = 2 * model.opt.timestep
    times = [*model.geom_solref[:, 0], *model.jnt_solref[:, 0], *model.eq_solref[:, 0]]
    if any(0 < time < shortest for time in times):
        remarks.append(f"constraints softened to a time constant of two time steps, {shortest:g} s")
    if model.npair:
        remarks.append("surfaces that bounce hardly rub during the impact itself")
    if model.nmesh:
        remarks.append("meshes touch as their convex hulls, in single precision")
    return tuple(remarks)
