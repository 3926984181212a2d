"""A scene as a MuJoCo model, made through MjSpec."""

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import mujoco
import numpy as np

from kinetarium.engines.base.simulation import Setup
from kinetarium.engines.mujoco.options import Cone, Integrator, MujocoOptions, Solver
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Inertia,
    Joint,
    JointType,
    Loop,
    LoopKind,
    MeshData,
    MeshFile,
    Mimic,
    Shape,
    Sphere,
)
from kinetarium.scene import (
    Actuation,
    Base,
    DriveMode,
    Material,
    Motion,
    PlacedRobot,
    Plane,
    Scene,
    SceneError,
)
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation

_RIGID = (0.9999, 0.9999, 0.001, 0.5, 2.0)
"""As much of a constraint as MuJoCo enforces, at any depth."""
_RECOVERY = 1e-3
"""Share of its depth that a bouncing contact gives back per step; it bounds the error of the
restitution."""
_GENTLE = (0.02, 1.0)
"""Time constant [s] and damping ratio of friction that does not make a rigid contact hop."""


@dataclass(frozen=True, slots=True)
class _Surface:
    """The geoms of one solid."""

    geoms: tuple[str, ...]
    material: Material

    @property
    def bounces(self) -> bool:
        return self.material.restitution > 0


class SurfaceBuilder:
    """Adds geometry to the bodies of a spec, and then rules which of them touch."""

    def __init__(self, spec: Any, scene: Scene, *, options: MujocoOptions) -> None:
        """Begin with an MjSpec whose bodies have the names of `body_name`."""
        self._spec = spec
        self._scene = scene
        self._options = options
        self._index = {body_name(solid): i for i, solid in enumerate(scene.solids)}
        self._surfaces: dict[str, _Surface] = {}
        self._meshes: dict[MeshFile | MeshData, str] = {}

    def cover(self, body: Any) -> None:
        """Put the shapes of a solid on its body, unless it may touch nothing."""
        solid = self._index[body.name]
        if not self._scene.may_collide[solid].any():
            return
        material = self._scene.materials[solid]
        names = []
        for i, (shape, X_BG) in enumerate(self._scene.geometry[solid]):
            names.append(f"{body.name}#{i}")
            geom = body.add_geom(
                name=names[-1],
                pos=X_BG[:3, 3],
                quat=quaternion_from_rotation(X_BG[:3, :3]),
                condim=_condim(material),
                solref=self._options.contact_solref,
                solimp=self._options.contact_solimp,
            )
            geom.friction = _frictions(material)
            self._form(geom, shape)
        if names:
            self._surfaces[body.name] = _Surface(tuple(names), material)

    def filter(self, *, timestep: float) -> None:
        """Exclude the pairs that never touch, and let bounce those that are to.

        Args:
            timestep: The step [s] within which an impact is over.
        """
        may_touch, fixed = self._scene.may_collide, self._scene.fixed
        for (a, on_a), (b, on_b) in combinations(self._surfaces.items(), 2):
            i, j = self._index[a], self._index[b]
            if not may_touch[i, j]:
                self._spec.add_exclude(bodyname1=a, bodyname2=b)
            elif (on_a.bounces or on_b.bounces) and not (fixed[i] and fixed[j]):
                self._let_bounce(on_a, on_b, timestep=timestep)

    def _let_bounce(self, a: _Surface, b: _Surface, *, timestep: float) -> None:
        """Let two surfaces part at a share of their speed, the greater of their restitutions.

        A rigid constraint accelerates by -damping v - stiffness depth, so that the damping
        (1 + e) / h turns the approach v into -e v within the step h in which they meet.
        """
        e = max(a.material.restitution, b.material.restitution)
        slide, spin, roll = np.maximum(_frictions(a.material), _frictions(b.material))
        stiffness, damping = _RECOVERY / timestep**2, (1 + e) / timestep
        # MuJoCo divides the two by the impedance, by one power of it each.
        solref = (-stiffness * _RIGID[0], -damping * _RIGID[0])
        for one, other in product(a.geoms, b.geoms):
            pair = self._spec.add_pair(
                geomname1=one,
                geomname2=other,
                condim=max(_condim(a.material), _condim(b.material)),
                solref=solref,
                solreffriction=_GENTLE,
                solimp=_RIGID,
            )
            pair.friction = (slide, slide, spin, roll, roll)

    def _form(self, geom: Any, shape: Shape | Plane) -> None:
        match shape:
            case Plane():
                geom.type = mujoco.mjtGeom.mjGEOM_PLANE
                geom.size = (0.0, 0.0, 1.0)
            case Box():
                geom.type = mujoco.mjtGeom.mjGEOM_BOX
                geom.size = [edge / 2 for edge in shape.size]
            case Sphere():
                geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
                geom.size[0] = shape.radius
            case Cylinder():
                geom.type = mujoco.mjtGeom.mjGEOM_CYLINDER
                geom.size[:2] = shape.radius, shape.length / 2
            case Capsule():
                geom.type = mujoco.mjtGeom.mjGEOM_CAPSULE
                geom.size[:2] = shape.radius, shape.length / 2
            case MeshFile() | MeshData():
                geom.type = mujoco.mjtGeom.mjGEOM_MESH
                geom.meshname = self._mesh(shape, geom.name)

    def _mesh(self, shape: MeshFile | MeshData, name: str) -> str:
        """Return the name of a mesh; only its corners are passed, MuJoCo takes their hull."""
        if shape not in self._meshes:
            self._spec.add_mesh(
                name=name,
                uservert=mesh_of(shape).vertices.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
            )
            self._meshes[shape] = name
        return self._meshes[shape]


def _frictions(material: Material) -> tuple[float, float, float]:
    return material.friction, material.spinning_friction, material.rolling_friction


def _condim(material: Material) -> int:
    """Return the dimensions in which a contact pushes: the normal, sliding, spinning, rolling."""
    if material.rolling_friction > 0:
        return 6
    if material.spinning_friction > 0:
        return 4
    return 3 if material.friction > 0 else 1


UNBOUNDED = 1e10
"""Stands for an infinite limit of a joint that is limited on one side only [rad or m]."""

INTEGRATORS = {
    Integrator.EULER: mujoco.mjtIntegrator.mjINT_EULER,
    Integrator.RK4: mujoco.mjtIntegrator.mjINT_RK4,
    Integrator.IMPLICIT: mujoco.mjtIntegrator.mjINT_IMPLICIT,
    Integrator.IMPLICITFAST: mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    Integrator.DISCRETE: mujoco.mjtIntegrator.mjINT_DISCRETE,
}
IMPLICIT_IN_VELOCITY = (Integrator.IMPLICIT, Integrator.IMPLICITFAST)
_CONES = {
    Cone.ELLIPTIC: mujoco.mjtCone.mjCONE_ELLIPTIC,
    Cone.PYRAMIDAL: mujoco.mjtCone.mjCONE_PYRAMIDAL,
}
_SOLVERS = {
    Solver.NEWTON: mujoco.mjtSolver.mjSOL_NEWTON,
    Solver.CG: mujoco.mjtSolver.mjSOL_CG,
    Solver.PGS: mujoco.mjtSolver.mjSOL_PGS,
}


def body_name(solid: str) -> str:
    """Return MuJoCo's name of a solid, which may be called "world" as MuJoCo's own body is."""
    return solid if "/" in solid else f"/{solid}"


def mujoco_model(setup: Setup[MujocoOptions]) -> mujoco.MjModel:
    """Build a scene.

    Every link is a body of its own, named by `body_name`; MuJoCo
    lumps those without a joint between them itself. Bodies carry the given
    inertia, never one inferred from geometry. Actuators stand in the order of
    the layout's commands.

    Raises:
        SceneError: If MuJoCo refuses the scene.
    """
    scene, layout, options = setup.scene, setup.layout, setup.options
    _keep_quiet()
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    _set_options(spec, setup)
    surfaces = SurfaceBuilder(spec, scene, options=options)
    for robot in scene.robots:
        _add_robot(spec, robot, surfaces=surfaces, setup=setup)
    for body in scene.bodies:
        added = _add_body(
            spec.worldbody, body_name(body.name), X_PB=body.X_WB, inertia=body.inertia
        )
        if body.motion is Motion.FREE:
            added.add_freejoint()
        surfaces.cover(added)
    surfaces.filter(timestep=setup.timestep)
    for joint, actuation in zip(layout.commands, layout.actuations, strict=True):
        _add_drive(spec, joint, actuation, setup=setup)
    for sensor in scene.sensors:
        child = scene.robot(sensor.robot).model.joint(sensor.joint).child
        _add_sensor(spec, sensor.name, body=f"{sensor.robot}/{child}")
    try:
        return spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).removeprefix("Error: ").split())
        raise SceneError(f"MuJoCo refuses the scene: {reason}") from None


def _keep_quiet() -> None:
    """Keep MuJoCo from writing a log into the user's folder; its warnings are counted anyway."""
    config = mujoco.MjLogConfig.get()
    config.logto_file = False
    config.logto_console = False
    config.set()


def _set_options(spec: Any, setup: Setup[MujocoOptions]) -> None:
    option, options = spec.option, setup.options
    option.timestep = setup.timestep
    option.gravity = setup.scene.gravity
    option.integrator = INTEGRATORS[options.integrator]
    option.cone = _CONES[options.cone]
    option.solver = _SOLVERS[options.solver]
    option.impratio = options.impratio
    option.iterations = options.iterations
    option.tolerance = options.tolerance
    option.noslip_iterations = options.noslip_iterations
    # A reset would hide that the numbers have gone; joined solids are the scene's to exclude.
    flags = mujoco.mjtDisableBit
    option.disableflags = flags.mjDSBL_AUTORESET | flags.mjDSBL_FILTERPARENT


def _add_robot(
    spec: Any, robot: PlacedRobot, *, surfaces: SurfaceBuilder, setup: Setup[MujocoOptions]
) -> None:
    model, options = robot.model, setup.options
    bodies: dict[str, Any] = {}
    for link in model.links:
        joint = model.parent_joint.get(link.name)
        parent, X_PB = (bodies[joint.parent], joint.X_PJ) if joint else (spec.worldbody, robot.X_WB)
        body = _add_body(parent, f"{robot.name}/{link.name}", X_PB=X_PB, inertia=link.inertia)
        if joint is None and robot.base is Base.FREE:
            body.add_freejoint()
        if joint and joint.type is not JointType.FIXED:
            _add_joint(body, f"{robot.name}/{joint.name}", joint, setup=setup)
        surfaces.cover(body)
        bodies[link.name] = body
    for joint in model.joints:
        if joint.mimic:
            _couple(
                spec, f"{robot.name}/{joint.name}", joint.mimic, robot=robot.name, options=options
            )
    for loop in model.loops:
        _close(spec, loop, bodies, options=options)


def _add_body(parent: Any, name: str, *, X_PB: Array, inertia: Inertia | None) -> Any:
    body = parent.add_body(
        name=name,
        pos=X_PB[:3, 3],
        quat=quaternion_from_rotation(X_PB[:3, :3]),
        explicitinertial=True,
    )
    if inertia:
        moments, axes = np.linalg.eigh(inertia.moment)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        body.mass = inertia.mass
        body.ipos = inertia.center
        body.iquat = quaternion_from_rotation(axes)
        body.inertia = moments
    return body


def _add_joint(body: Any, name: str, joint: Joint, *, setup: Setup[MujocoOptions]) -> None:
    limits, options = joint.limits, setup.options
    slides = joint.type is JointType.PRISMATIC
    lower, upper = np.clip((limits.lower, limits.upper), -UNBOUNDED, UNBOUNDED)
    body.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE,
        axis=joint.axis,
        limited=bool(lower > -UNBOUNDED or upper < UNBOUNDED),
        range=(lower, max(upper, np.nextafter(lower, np.inf))),
        damping=(joint.damping + implicit_damping(joint, setup), 0.0, 0.0),
        stiffness=(joint.stiffness, 0.0, 0.0),
        springref=joint.springref,
        frictionloss=joint.friction,
        armature=joint.armature,
        solref_limit=options.contact_solref,
        solimp_limit=options.joint_solimp,
        solref_friction=options.joint_solref,
        solimp_friction=options.joint_solimp,
    )


def implicit_damping(joint: Joint, setup: Setup[MujocoOptions]) -> float:
    """Return the damping h k that moves a joint's spring to the end of the step.

    As with the springs of drives (`_add_drive`).
    """
    implicit = setup.options.integrator in IMPLICIT_IN_VELOCITY
    return setup.timestep * joint.stiffness * implicit


def _couple(spec: Any, follower: str, mimic: Mimic, *, robot: str, options: MujocoOptions) -> None:
    coupling = spec.add_equality(
        type=mujoco.mjtEq.mjEQ_JOINT,
        name1=follower,
        name2=f"{robot}/{mimic.joint}",
        solref=options.joint_solref,
        solimp=options.joint_solimp,
    )
    coupling.data[:2] = (mimic.offset, mimic.multiplier)  # of a polynomial, the rest of it zero


def _close(spec: Any, loop: Loop, bodies: dict[str, Any], *, options: MujocoOptions) -> None:
    ends: list[str] = []
    for link, X_LC in ((loop.link_a, loop.X_AC), (loop.link_b, loop.X_BC)):
        body = bodies[link]
        ends.append(f"{body.name}#{loop.name}#{len(ends)}")
        body.add_site(name=ends[-1], pos=X_LC[:3, 3], quat=quaternion_from_rotation(X_LC[:3, :3]))
    kinds = {LoopKind.POINT: mujoco.mjtEq.mjEQ_CONNECT, LoopKind.POSE: mujoco.mjtEq.mjEQ_WELD}
    spec.add_equality(
        type=kinds[loop.kind],
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        name1=ends[0],
        name2=ends[1],
        solref=options.joint_solref,
        solimp=options.joint_solimp,
    )


def _add_drive(spec: Any, joint: str, actuation: Actuation, *, setup: Setup[MujocoOptions]) -> None:
    drive = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    if actuation.drive is not DriveMode.TORQUE:
        position = actuation.drive is DriveMode.POSITION
        stiffness = actuation.stiffness if position else 0.0
        drive.gainprm[0] = stiffness if position else actuation.damping
        drive.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        # Integrators implicit in velocity alone take the spring at the old position. The damping
        # h K moves it to the new one: K (r - q) - (D + h K) v' = K (r - q - h v') - D v'.
        implicit = setup.options.integrator in IMPLICIT_IN_VELOCITY
        damping = actuation.damping + setup.timestep * stiffness * implicit
        drive.biasprm[:3] = (0.0, -stiffness, -damping)
    drive.forcelimited = bool(np.isfinite(actuation.effort))
    if drive.forcelimited:
        # MuJoCo requires a range; a drive without force gets the smallest one.
        effort = max(actuation.effort, np.finfo(np.float64).tiny)
        drive.forcerange = (-effort, effort)


def _add_sensor(spec: Any, name: str, *, body: str) -> None:
    spec.body(body).add_site(name=name)
    for kind, quantity in (
        (mujoco.mjtSensor.mjSENS_FORCE, "force"),
        (mujoco.mjtSensor.mjSENS_TORQUE, "torque"),
    ):
        spec.add_sensor(
            name=f"{name}#{quantity}",
            type=kind,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=name,
        )
