"""RapierSimulation: a scene inside Rapier, and its drives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import rapier3d as rapier

from kinetarium.engines.base.momentum_balance import Load, Momentum
from kinetarium.engines.base.simulation import AppliedWrench, Setup, SimulationBase
from kinetarium.engines.protocol import Audit, Contacts, Layout, State
from kinetarium.engines.rapier.build import (
    Model,
    is_servo,
    isometry,
    joint_axis,
    slides,
)
from kinetarium.engines.rapier.options import RapierOptions
from kinetarium.engines.rapier.readings import LoadBodies, audit, read_contacts
from kinetarium.scene import Actuation, DriveMode
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_from_quaternion

Numbers = Sequence[float]
_NO_POSES, _NO_TWISTS = np.zeros((0, 7)), np.zeros((0, 6))


class Drives:
    """The drives in a world; in plain numbers, which are faster than short arrays.

    Rapier's motors are springs and dampers with a limit, solved implicitly and
    together with contacts: the servos of position and velocity drives as they
    are. A torque is put on the link below the joint and its opposite on the
    one above, for Rapier takes no generalised forces. As the force of a motor
    it would come after the free motion, in which Coriolis forces are implicit,
    instead of being part of it.
    """

    def __init__(self, layout: Layout, model: Model, *, world: Any) -> None:
        """Find the motors and links of the driven joints.

        Args:
            layout: The layout of the scene.
            model: The scene as it was built.
            world: The scene in Rapier.
        """
        self._servos: list[tuple[int, Any, int, Any, Actuation]] = []
        self._hinges: list[tuple[int, float, list[float], Any, Any]] = []
        self._sliders: list[tuple[int, float, list[float], Any, Any]] = []
        pushed: dict[Any, Any] = {}
        joints = [
            (multibody, link, joint)
            for multibody in model.multibodies
            for link, joint in enumerate(multibody.joints, 1)
        ]
        for i, (place, drive) in enumerate(
            zip(layout.command_joints.tolist(), layout.actuations, strict=True)
        ):
            multibody, link, joint = joints[place]
            if drive.drive is DriveMode.TORQUE:
                ends = [multibody.links[end].handle for end in (link, multibody.parents[link])]
                pushed |= {end: world.rigid_bodies[end] for end in ends if end not in pushed}
                pairs = self._sliders if slides(joint) else self._hinges
                below, above = (pushed[end] for end in ends)
                pairs.append((i, drive.effort, joint.axis.tolist(), below, above))
            elif is_servo(drive):
                motor = world.multibody_joints.multibody(multibody.handles[0]).set_link_motor
                self._servos.append((i, motor, link, joint_axis(joint), drive))
        self._pushed = tuple(pushed.values())
        slid = {id(end): end for *_, below, above in self._sliders for end in (below, above)}
        self._slid = tuple(slid.values())

    def aim(self, command: Sequence[float]) -> None:
        """Set the targets of servos, which cut themselves off at their limits."""
        for i, set_motor, link, axis, drive in self._servos:
            if drive.drive is DriveMode.POSITION:
                set_motor(link, axis, command[i], 0.0, drive.stiffness, drive.damping)
            else:
                set_motor(link, axis, 0.0, command[i], 0.0, drive.damping)

    def push(self, command: Sequence[float]) -> None:
        """Put torques and forces, cut off at their limits, on links for the next step."""
        for body in self._pushed:
            body.reset_torques(False)
        for body in self._slid:
            body.reset_forces(False)
        for i, limit, axis, below, above in self._hinges:
            c = command[i]
            torque = limit if c > limit else -limit if c < -limit else c
            x, y, z = below.rotation.transform_vector(axis).to_tuple()
            x, y, z = x * torque, y * torque, z * torque
            below.add_torque((x, y, z), False)
            above.add_torque((-x, -y, -z), False)
        for i, limit, axis, below, above in self._sliders:
            c = command[i]
            force = limit if c > limit else -limit if c < -limit else c
            x, y, z = below.rotation.transform_vector(axis).to_tuple()
            x, y, z = x * force, y * force, z * force
            below.add_force((x, y, z), False)
            above.add_force_at_point((-x, -y, -z), below.translation.to_tuple(), False)


class RapierSimulation(SimulationBase[bytes]):
    """A scene inside Rapier.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Servos, Coulomb
    friction, couplings, loops and limits of joints are solved together with
    contacts; damping and armature are part of the mass matrix. Rapier computes
    in single precision, and takes Coriolis forces at the end of a step.
    """

    def __init__(self, setup: Setup[RapierOptions], *, model: Model) -> None:
        """Take over a scene.

        Args:
            model: The scene as Rapier holds it.
        """
        super().__init__(setup)
        self._scene, self._options, self._model = setup.scene, setup.options, model
        self._centers = [part.center.tolist() for part in model.floating]
        self._loads = {
            sensor.name: (
                Load.of(sensor, setup.scene, timestep=setup.timestep, engine=setup.engine),
                LoadBodies.of(sensor, setup.scene, model=model),
            )
            for sensor in setup.scene.sensors
        }
        self._enter(rapier.PhysicsWorld.restore(model.stored))

    def audit(self) -> Audit:
        """Read back the model as Rapier loaded it."""
        return audit(
            self._scene,
            self._layout,
            model=self._model,
            world=self._world,
            options=self._options,
        )

    def _enter(self, world: Any) -> None:
        """Find everything in another world."""
        self._world = world
        self._before: dict[str, Momentum] = {}
        self._applied: Sequence[AppliedWrench] = ()
        bodies, parts = world.rigid_bodies, self._model.multibodies
        self._multibodies = [world.multibody_joints.multibody(one.handles[0]) for one in parts]
        owners = {
            link.handle: multibody
            for multibody, one in zip(self._multibodies, parts, strict=True)
            for link in one.links
        }
        # Reading is so fast that every look-up counts.
        self._jointed = [
            (multibody.generalized_position, multibody.generalized_velocity, 6 * one.floats)
            for multibody, one in zip(self._multibodies, parts, strict=True)
            if one.joints
        ]
        self._floating = [
            (bodies[part.handle], owners.get(part.handle), center if any(center) else None)
            for part, center in zip(self._model.floating, self._centers, strict=True)
        ]
        self._movable = {
            solid: bodies[part.handle]
            for part in self._model.parts
            if part.inertia
            for solid, _ in part.members
        }
        self._drives = Drives(self._layout, self._model, world=world)

    def _write(self, state: State) -> None:
        # A newly built world has no contacts of earlier steps.
        self._enter(rapier.PhysicsWorld.restore(self._model.stored))
        floating: dict[int, tuple[list[float], list[float]]] = {}
        for (body, multibody, _), center, placed, twist in zip(
            self._floating, self._centers, state.poses, state.twists, strict=True
        ):
            R = rotation_from_quaternion(placed[3:])
            r = R @ center
            p, v = placed[:3] + r, twist[:3] + np.cross(twist[3:], r)
            if multibody is None:
                body.position = isometry(pose(p, R))
                body.linvel, body.angvel = v.tolist(), twist[3:].tolist()
            else:
                floating[id(multibody)] = ([*p, *so3.log(R)], [*v, *twist[3:]])
        start = 0
        for multibody, model in zip(self._multibodies, self._model.multibodies, strict=True):
            own = slice(start, start := start + len(model.joints))
            p, v = floating.get(id(multibody), ([], []))
            multibody.apply_displacements([*p, *state.q[own].tolist()])
            multibody.set_generalized_velocity([*v, *state.v[own].tolist()])
            multibody.forward_kinematics(self._world.rigid_bodies, False)
            multibody.update_rigid_bodies(self._world.rigid_bodies, True)

    def _read(self) -> tuple[Array, Array, Array, Array]:
        q: list[float] = []
        v: list[float] = []
        for positions, velocities, first in self._jointed:
            q += positions()[first:]
            v += velocities()[first:]
        poses: list[Numbers] = []
        twists: list[Numbers] = []
        for body, multibody, center in self._floating:
            p, (x, y, z, w) = body.translation.to_tuple(), body.rotation.quaternion
            V = (
                multibody.generalized_velocity()[:6]
                if multibody
                else (*body.linvel.to_tuple(), *body.angvel.to_tuple())
            )
            if center:
                p, V = _at_origin(p, (w, x, y, z), V, center)
            poses.append((*p, w, x, y, z))
            twists.append(V)
        return (
            np.array(q),
            np.array(v),
            np.array(poses or _NO_POSES),
            np.array(twists or _NO_TWISTS),
        )

    def _advance(self, command: Array, n: int, wrenches: Sequence[AppliedWrench]) -> int:
        commands = command.tolist()
        world, drives = self._world, self._drives
        drives.aim(commands)
        self._applied = wrenches
        pushed = [wrench for wrench in wrenches if wrench.solid in self._movable]
        for left in range(n, 0, -1):
            drives.push(commands)
            for solid, F_W, point in pushed:
                body = self._movable[solid]
                body.add_force_at_point(F_W[:3].tolist(), point.tolist(), False)
                body.add_torque(F_W[3:].tolist(), False)
            if left == 1:
                for name, (_, bodies) in self._loads.items():
                    self._before[name] = bodies.momentum(world)
            world.step()
            if not world.quarantine.is_empty():
                self._diverge()
                return n - left + 1
        for solid, _, _ in pushed:
            self._movable[solid].reset_forces(False)
            self._movable[solid].reset_torques(False)
        return n

    def _contacts(self) -> Contacts:
        return read_contacts(self._world, self._model.colliders, timestep=self._timestep)

    def _wrench(self, sensor: str) -> Array:
        load, bodies = self._loads[sensor]
        return load.wrench(
            self._before[sensor],
            bodies.momentum(self._world),
            masses=bodies.masses,
            contacts=self.contacts(),
            wrenches=self._applied,
        )

    def _save(self) -> bytes:
        snapshot: bytes = self._world.snapshot()
        return snapshot

    def _restore(self, memory: bytes) -> None:
        self._enter(rapier.PhysicsWorld.restore(memory))


def _at_origin(p: Numbers, q: Numbers, V: Numbers, center: Numbers) -> tuple[Numbers, Numbers]:
    """Return position and twist of the solid's origin, given those of its centre of mass."""
    (w, x, y, z), (a, b, c) = q, center
    # R c = c + w t + u x t with t = 2 u x c and the quaternion's vector part u.
    t, u, v = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    a, b, c = a + w * t + y * v - z * u, b + w * u + z * t - x * v, c + w * v + x * u - y * t
    (px, py, pz), (vx, vy, vz, wx, wy, wz) = p, V
    return (
        (px - a, py - b, pz - c),
        (vx - wy * c + wz * b, vy - wz * a + wx * c, vz - wx * b + wy * a, wx, wy, wz),
    )
