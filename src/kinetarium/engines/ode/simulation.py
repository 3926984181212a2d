"""OdeSimulation: a scene inside ODE."""

from math import isfinite, sqrt
from typing import Any

import numpy as np

from kinetarium.engines.base.engine import initial_state
from kinetarium.engines.ode import library
from kinetarium.engines.ode.assembly import WORLD, assemble
from kinetarium.engines.ode.audit import audit
from kinetarium.engines.ode.build import OdeWorld, placement
from kinetarium.engines.ode.contacts import Touch
from kinetarium.engines.ode.drives import Couplings, Drives
from kinetarium.engines.ode.joints import Stops
from kinetarium.engines.ode.library import POSE, POSITION, ROTATION, VELOCITY
from kinetarium.engines.ode.options import OdeOptions, OdeSolver
from kinetarium.engines.ode.readings import JointReadings, OdeSensors
from kinetarium.engines.ode.shapes import OdeShapes
from kinetarium.engines.protocol import (
    Audit,
    Capability,
    CapabilityError,
    Contacts,
    Layout,
    State,
    Status,
)
from kinetarium.errors import UnknownNameError
from kinetarium.model.robot import JointType
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array

NAME = "ode"
_ABSURD = 1e6
"""Positions [m] and speeds [m/s, rad/s] beyond this mean that the run has diverged."""


class OdeSimulation:
    """A scene inside ODE: bodies in maximal coordinates, held together by joints.

    Joint positions are read from the poses of the bodies, which drift apart by
    micrometres before they are pulled together again. Coupled joints agree in
    speed to 1e-6 after every step (see `Couplings`).
    """

    def __init__(
        self,
        scene: Scene,
        *,
        timestep: float,
        options: OdeOptions,
        seed: int,
    ) -> None:
        """Build the scene.

        Args:
            timestep: Time step [s].
            options: Settings.
            seed: Of the order in which the QUICK solver visits the constraints.
        """
        self._library = ode = library.load()
        ode.dAllocateODEDataForThread(0xFFFFFFFF)
        self._layout = layout = Layout.of(scene)
        self._timestep = timestep
        self._assembly = assemble(scene, layout)
        self._world = world = OdeWorld(ode, scene, self._assembly, options=options)
        self._memory = world.memory
        self._shapes = OdeShapes(world, scene, self._assembly, layout=layout)
        self._touch = Touch(world, scene, self._shapes.shapes, options=options)
        self._stops = Stops(world.joints)
        self._drives = Drives(world.joints, layout, timestep=timestep)
        self._couplings = Couplings(
            scene,
            layout,
            joints=world.joints,
            inertias=[self._inertia_along(i) for i in world.children],
            timestep=timestep,
            options=options,
        )
        self._sensors = OdeSensors(world, scene)
        self._readings = JointReadings(self._assembly, world.children)
        self._direct = options.solver is OdeSolver.DIRECT
        # Joints are read in every step where turns are counted or something depends on them.
        self._follows = bool(self._stops.rounds or self._drives.follow or self._couplings.count)
        floating = sorted(
            (piece.floating, i) for i, piece in enumerate(world.pieces) if piece.floating >= 0
        )
        self._floating = np.array([i for _, i in floating], dtype=np.intp)
        centers = [world.pieces[i].inertia.center for i in self._floating]
        self._centers = np.array(centers).reshape(-1, 3, 1)
        self._off_center = bool(self._centers.any())
        places = np.arange(self._memory.now.size).reshape(self._memory.now.shape)
        self._poses = places[POSE, self._floating].T
        self._twists = places[VELOCITY, self._floating].T
        self._seed = seed
        self._closed = False
        self.reset(initial_state(scene))

    @property
    def layout(self) -> Layout:
        """The order of joints, commands, floating solids and all solids."""
        return self._layout

    @property
    def status(self) -> Status:
        """Whether the numbers still mean anything."""
        return self._status

    def state(self) -> State:
        """Read the state."""
        if self._steps == 0:  # the velocities that `reset` has set lag behind those it was given
            start = self._start
            return State(
                start.time, start.q.copy(), start.v.copy(), start.poses.copy(), start.twists.copy()
            )
        poses = self._memory.now.take(self._poses)
        twists = self._memory.now.take(self._twists)
        if self._off_center:
            R = self._memory.now[ROTATION, self._floating].T.reshape(-1, 3, 3)
            arms = (R @ self._centers)[..., 0]
            poses[:, :3] -= arms
            twists[:, :3] -= np.cross(twists[:, 3:], arms)
        q, v = self._readings.read(self._memory, self._near)
        return State(self._start.time + self._steps * self._timestep, q, v, poses, twists)

    def reset(self, state: State) -> None:
        """Set the state and forget contacts, coupling forces and pending wrenches.

        A state that is not finite is not handed to ODE: the run counts as diverged.
        """
        self._status = Status.RUNNING
        numbers = (state.q, state.v, state.poses, state.twists)
        self._start = State(state.time, *(np.array(part, dtype=np.float64) for part in numbers))
        self._steps = self._unsolved = 0
        self._pending: dict[int, Array] = {}
        self._touch.forget()
        self._couplings.reset()
        self._sensors.forget()
        self._near = self._start.q if self._follows else self._stops.references
        if not all(np.isfinite(part).all() for part in numbers):
            self._diverge()
            return
        placed = placement(self._assembly, state, timestep=self._timestep)
        self._world.place(placed)
        self._memory.read()
        library.warnings.clear()
        self._check()

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`."""
        if self._status is Status.DIVERGED:
            return
        numbers: list[float] = np.asarray(command, dtype=np.float64).tolist()
        if not isfinite(sum(numbers)):
            self._diverge()
            return
        self._drives.command(numbers)
        for _ in range(n):
            self._advance()
            if self.status is Status.DIVERGED:
                return

    def contacts(self) -> Contacts:
        """Return the contacts of the last step, each with its whole force."""
        return self._touch.contacts()

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step.

        It holds everything that passes through the joint, the effort of its drive included.
        """
        return self._sensors.wrench(sensor, self._memory.before, self._efforts())

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step.

        Raises:
            UnknownNameError: If there is no such solid.
        """
        if solid not in self._assembly.homes:
            raise UnknownNameError("solid", solid, known=self._layout.solids)
        piece, _ = self._assembly.homes[solid]
        if piece == WORLD:
            return
        F, place = np.array(F_W, dtype=np.float64), np.asarray(point, dtype=np.float64)
        if not (np.isfinite(F).all() and np.isfinite(place).all()):
            self._diverge()
            return
        F[3:] += np.cross(place - self._memory.now[POSITION, piece], F[:3])
        self._pending[piece] = self._pending.get(piece, 0.0) + F

    def save(self) -> Any:
        """Return everything needed to go on from here to the bit."""
        return (
            self._memory.save(),
            self._near,
            self._start,
            self._steps,
            self._status,
            dict(self._pending),
            self._couplings.save(),
            self._touch.save(),
            self._sensors.save(),
            list(self._drives.efforts),
        )

    def restore(self, saved: Any) -> None:
        """Go back to where `save` was called."""
        (
            bodies,
            self._near,
            self._start,
            self._steps,
            self._status,
            pending,
            couplings,
            touch,
            sensors,
            efforts,
        ) = saved
        self._memory.restore(bodies)
        self._world.notify()
        self._pending = dict(pending)
        self._couplings.restore(couplings)
        self._touch.restore(touch)
        self._sensors.restore(sensors)
        self._drives.efforts[:] = efforts

    def audit(self) -> Audit:
        """Read back the model as ODE loaded it."""
        return audit(
            self._world,
            self._layout,
            self._assembly,
            stops=self._stops,
            timestep=self._timestep,
            meshes=self._shapes.meshes,
            unsolved=self._unsolved,
        )

    def mass_matrix(self, robot: str) -> Array:
        """Not in ODE, which knows no joint coordinates.

        Raises:
            CapabilityError: Always.
        """
        raise CapabilityError(NAME, Capability.MASS_MATRIX)

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Not in ODE, which knows no joint coordinates.

        Raises:
            CapabilityError: Always.
        """
        raise CapabilityError(NAME, Capability.INVERSE_DYNAMICS)

    def close(self) -> None:
        """Release what ODE holds."""
        if not self._closed:
            self._closed = True
            self._status = Status.DIVERGED  # so that nothing steps what is gone
            self._touch.close()
            self._shapes.close()
            self._world.close()

    def _advance(self) -> None:
        """Make one time step."""
        memory, touch = self._memory, self._touch
        if self._follows:
            q, v = self._readings.read(memory, self._near)
            self._near = q
            self._drives.act(q, v if self._steps else self._start.v)
            self._stops.update(q)
        else:
            self._drives.push()
        for piece, F in self._pending.items():
            self._library.dBodyAddForce(self._world.bodies[piece], *F[:3].tolist())
            self._library.dBodyAddTorque(self._world.bodies[piece], *F[3:].tolist())
        self._pending.clear()
        touch.find(memory.now)
        memory.begin_step()
        if self._couplings.count:
            self._solve_couplings()
        else:
            self._solve()
        self._steps += 1
        self._touch.moved(self._check(), timestep=self._timestep)

    def _solve(self) -> None:
        """Let ODE make the step and read the result."""
        library.warnings.clear()  # of others, or of a try that was not taken
        memory = self._memory
        if self._direct:
            forces = memory.forces()
            self._library.dWorldStep(self._world.handle, self._timestep)
            if library.warnings:
                library.warnings.clear()
                self._unsolved += 1
                memory.go_back()
                memory.set_forces(forces)
                self._step_quickly()
        else:
            self._step_quickly()
        memory.read()

    def _step_quickly(self) -> None:
        self._library.dRandSetSeed((self._seed + self._steps) & 0xFFFFFFFF)
        self._library.dWorldQuickStep(self._world.handle, self._timestep)

    def _solve_couplings(self) -> None:
        memory = self._memory
        forces = memory.forces()

        def attempt() -> Array:
            memory.go_back()
            memory.set_forces(forces)
            self._couplings.push()
            self._solve()
            return self._readings.read(memory, self._near)[1]

        self._couplings.solve(self._near, attempt)

    def _check(self) -> float:
        """Mark the run if it has diverged; give the root of the sum of all squared speeds."""
        positions, velocities = self._memory.now[POSITION], self._memory.now[VELOCITY]
        speed = sqrt(np.vdot(velocities, velocities))
        if not sqrt(np.vdot(positions, positions)) + speed < _ABSURD or library.warnings:
            self._diverge()
        return speed

    def _diverge(self) -> None:
        self._status = Status.DIVERGED

    def _efforts(self) -> Array:
        """Return what was pushed along the joints in the last step [N m or N], shape (joints,)."""
        return np.asarray(self._drives.efforts) + self._couplings.efforts

    def _inertia_along(self, child: int) -> float:
        """Return the mass or the moment of inertia [kg or kg m^2] of a piece along its joint."""
        piece = self._world.pieces[child]
        assert piece.joint is not None
        if piece.joint.type is JointType.PRISMATIC:
            return piece.inertia.mass
        axis, arm = piece.joint.axis, np.cross(piece.joint.axis, piece.inertia.center)
        return float(axis @ piece.inertia.moment @ axis + piece.inertia.mass * (arm @ arm))
