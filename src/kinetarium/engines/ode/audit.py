"""The model as ODE loaded it, read back into the terms of the scene."""

from kinetarium.engines.ode.assembly import Assembly
from kinetarium.engines.ode.build import OdeWorld
from kinetarium.engines.ode.joints import OdeJoint, Row, Stops
from kinetarium.engines.protocol import Audit, Layout, LoadedJoint, LoadedSolid
from kinetarium.spatial.arrays import Array, frozen

_ALWAYS = (
    "friction is a pyramid along two directions of the contact plane: across the corners it "
    "reaches 1.41 times the coefficient",
)


def audit(
    world: OdeWorld,
    layout: Layout,
    assembly: Assembly,
    *,
    stops: Stops,
    timestep: float,
    meshes: bool,
    unsolved: int,
) -> Audit:
    """Read back masses, joints and gravity.

    Args:
        layout: The layout of the scene.
        assembly: Its pieces.
        stops: The joint limits.
        timestep: Time step [s].
        meshes: Whether there are meshes that touch.
        unsolved: Steps that the direct solver could not make.
    """
    solids = tuple(
        LoadedSolid(piece.name, world.inertia(i), piece.members)
        for i, piece in enumerate(world.pieces)
    )
    limits = stops.limits()
    joints = tuple(
        _joint(name, joint, world.memory.rotation(child), limits[i], timestep)
        for i, (name, joint, child) in enumerate(
            zip(layout.joints, world.joints, world.children, strict=True)
        )
    )
    remarks = [*_ALWAYS]
    if meshes:
        remarks.append("meshes touch as the triangles of their convex hulls")
    if unsolved:
        remarks.append(f"{unsolved} steps that the direct solver found no solution for were quick")
    if assembly.massless:
        remarks.append(
            "given a millionth of the robot's mass, for ODE moves nothing without mass: "
            + ", ".join(assembly.massless)
        )
    return Audit(solids, joints, world.gravity(), tuple(remarks))


def _joint(
    name: str, joint: OdeJoint, R_WB: Array, limits: tuple[float, float], timestep: float
) -> LoadedJoint:
    passive, _ = joint.row(Row.PASSIVE)
    armature = joint.joint.armature
    return LoadedJoint(
        name=name,
        axis=frozen(R_WB.T @ joint.axis()),
        damping=max(passive - armature / timestep, 0.0),
        friction=joint.row(Row.FRICTION)[1],
        armature=armature,
        lower=limits[0],
        upper=limits[1],
    )
