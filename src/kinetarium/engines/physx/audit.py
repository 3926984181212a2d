"""A PhysX scene read back into the terms of the scene it was built from."""

from math import inf

import numpy as np

from kinetarium.engines.audit import Audit, LoadedJoint, LoadedSolid
from kinetarium.engines.physx.bodies import read_inertia
from kinetarium.engines.physx.parts import JointPart, Parts
from kinetarium.engines.physx.robot import UNBOUNDED
from kinetarium.engines.physx.world import World
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import rotation_from_quaternion


def audit(parts: Parts, world: World) -> Audit:
    """Read back masses, joints and gravity."""
    return Audit(
        solids=tuple(
            LoadedSolid(solid.name, read_inertia(solid.component), solid.members)
            for solid in parts.solids
        ),
        joints=tuple(_joint(part) for part in parts.joints),
        gravity=frozen(world.system.config.gravity),
        remarks=parts.remarks,
    )


def _joint(part: JointPart) -> LoadedJoint:
    R_LJ = rotation_from_quaternion(part.joint.pose_in_child.q)
    lower, upper = np.sort(part.sign * np.asarray(part.joint.limits, dtype=np.float64)[0])
    return LoadedJoint(
        name=part.name,
        axis=frozen(part.sign * R_LJ[:, 0]),
        damping=part.resistance.read_damping(),
        friction=part.resistance.read_friction(),
        armature=float(part.joint.armature[0]),
        lower=float(lower) if lower > -UNBOUNDED else -inf,
        upper=float(upper) if upper < UNBOUNDED else inf,
    )
