"""MujocoSimulation: a scene inside MuJoCo."""

from dataclasses import dataclass

import mujoco
import numpy as np

from kinetarium.engines.mujoco.audit import audit
from kinetarium.engines.mujoco.joint_space import Addresses, JointSpace
from kinetarium.engines.protocol import Audit, Contacts, Layout, State, Status
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.scene import Base, Scene
from kinetarium.spatial.arrays import Array

_rotate, _step = mujoco.mju_rotVecQuat, mujoco.mj_step
_ABSURD = 1e6**2
"""Square of the norm of all positions or velocities beyond which a run has diverged."""
_CALM = 1e2**2
"""Square of the norm of all velocities below which positions do not become absurd."""


@dataclass(frozen=True, slots=True, eq=False)
class _Saved:
    """Everything MuJoCo holds, the contacts and readings of the last step included."""

    data: mujoco.MjData
    diverged: bool
    pushed: bool


class MujocoSimulation:
    """A scene inside MuJoCo.

    Contacts and sensors are those of the last step: taken at its start, with
    the forces that acted through it, normal and friction. Mimic joints are
    coupled by a constraint. Servos act through their damping implicitly,
    through their stiffness only under the integrator DISCRETE.
    """

    def __init__(
        self, scene: Scene, layout: Layout, *, model: mujoco.MjModel, start: State
    ) -> None:
        """Start a compiled scene.

        Args:
            model: The scene as MuJoCo compiled it.
            start: The state it starts in.
        """
        self._scene = scene
        self._layout = layout
        self._model = model
        self._data = mujoco.MjData(model)
        self._scratch = mujoco.MjData(model)
        self._at = Addresses.of(scene, layout, model=model)
        self._spaces: dict[str, JointSpace] = {}
        # Views of MuJoCo's own memory, which stay where they are.
        self._qpos, self._qvel = self._data.qpos, self._data.qvel
        self._ctrl, self._warnings = self._data.ctrl, self._data.warning.number
        self._gather = (self._at.q, self._at.v, self._at.poses, self._at.twists)
        # Angular velocity, which MuJoCo has in body axes, and orientation of what floats.
        self._spins = [
            (i, self._qvel[v + 3 : v + 6], self._qpos[q + 3 : q + 7])
            for i, (q, v) in enumerate(
                zip(self._at.poses[:, 0], self._at.twists[:, 0], strict=True)
            )
        ]
        self._unwarned = self._warnings.tobytes()
        self._diverged = False
        self._pushed = False
        self.reset(start)

    @property
    def layout(self) -> Layout:
        """The order of joints, commands, floating solids and all solids."""
        return self._layout

    @property
    def status(self) -> Status:
        """Whether the numbers still mean anything."""
        self._diverged = self._diverged or self._gone_wrong()
        return Status.DIVERGED if self._diverged else Status.RUNNING

    def state(self) -> State:
        """Read the state."""
        qpos, qvel = self._qpos, self._qvel
        q, v, poses, twists = self._gather
        V_WB = qvel[twists]
        for i, spin, quaternion in self._spins:
            _rotate(V_WB[i, 3:], spin, quaternion)
        return State(self._data.time, qpos[q], qvel[v], qpos[poses], V_WB)

    def reset(self, state: State) -> None:
        """Set the state and forget contacts and pending wrenches."""
        mujoco.mj_resetData(self._model, self._data)
        self._data.time = state.time
        self._qpos[self._at.q] = state.q
        self._qvel[self._at.v] = state.v
        self._qpos[self._at.poses] = state.poses
        self._qvel[self._at.twists] = state.twists
        inverse, turned = np.zeros(4), True
        for _, spin, quaternion in self._spins:
            turned = turned and quaternion.any()  # MuJoCo takes zeros for no rotation
            mujoco.mju_normalize4(quaternion)
            mujoco.mju_negQuat(inverse, quaternion)
            _rotate(spin, spin.copy(), inverse)
        self._pushed = False
        sane = turned and self._qpos.dot(self._qpos) < _ABSURD
        self._diverged = not sane or self._gone_wrong()

    def step(self, command: Array, n: int = 1) -> None:
        """Advance n time steps under one command, in the order of `layout.commands`."""
        if self._diverged:
            return
        self._ctrl[:] = command  # MuJoCo warns of commands that are not finite
        if self._pushed and n > 0:
            _step(self._model, self._data)
            self._data.xfrc_applied[:] = 0.0
            self._pushed = False
            n -= 1
        if n == 1:
            _step(self._model, self._data)
        else:
            _step(self._model, self._data, n)
        # Cheap enough for every step; `status` looks closer.
        self._diverged = self._warnings.tobytes() != self._unwarned

    def contacts(self) -> Contacts:
        """Return the contacts of the last step."""
        contact = self._data.contact
        frames = contact.frame.reshape(-1, 3, 3)
        local = np.zeros((len(frames), 6))
        for i, row in enumerate(local):
            mujoco.mj_contactForce(self._model, self._data, i, row)
        # MuJoCo's normal points from its first geom to its second, on which its force acts.
        return Contacts(
            solids=self._at.geom_solids[contact.geom[:, ::-1]],
            points=contact.pos.copy(),
            normals=frames[:, 0].copy(),
            depths=-contact.dist,
            forces=np.einsum("nji,nj->ni", frames, local[:, :3]),
        )

    def wrench(self, sensor: str) -> Array:
        """Read a force-torque sensor [N, N m], shape (6,), as of the last step."""
        try:
            start = self._at.sensors[sensor]
        except KeyError:
            raise UnknownNameError("sensor", sensor, known=self._at.sensors) from None
        # MuJoCo gives what the parent exerts on the child.
        F: Array = -self._data.sensordata[start : start + 6]
        return F

    def apply_wrench(self, solid: str, F_W: Array, point: Array) -> None:
        """Apply a wrench [f; m] in world axes at a world point during the next time step."""
        try:
            body = self._at.bodies[solid]
        except KeyError:
            raise UnknownNameError("solid", solid, known=self._at.bodies) from None
        # MuJoCo takes wrenches at the centre of mass, and knows that of the last step only.
        mujoco.mj_kinematics(self._model, self._data)
        moment = np.zeros(3)
        mujoco.mju_cross(moment, point - self._data.xipos[body], F_W[:3])
        F = self._data.xfrc_applied[body]
        F += F_W
        F[3:] += moment
        self._pushed = True

    def save(self) -> _Saved:
        """Return everything needed to go on from here."""
        copy = mujoco.MjData(self._model)
        mujoco.mj_copyData(copy, self._model, self._data)
        return _Saved(copy, self._diverged, self._pushed)

    def restore(self, saved: _Saved) -> None:
        """Go back to where `save` was called.

        Raises:
            KinetariumError: If it was called on another simulation.
        """
        if saved.data.model is not self._model:
            raise KinetariumError("a state can be restored only where it was saved")
        mujoco.mj_copyData(self._data, self._model, saved.data)
        self._diverged = saved.diverged
        self._pushed = saved.pushed

    def audit(self) -> Audit:
        """Read back the model as MuJoCo loaded it."""
        return audit(self._model, self._layout)

    def mass_matrix(self, robot: str) -> Array:
        """Return the mass matrix of a robot in Kinetarium's coordinates, as MuJoCo sees it."""
        return self._joint_space(robot).mass_matrix(self._scratch)

    def inverse_dynamics(self, robot: str, acceleration: Array) -> Array:
        """Return the generalised forces of an acceleration at the present state.

        Joint damping and friction are left out, as in `RobotDynamics`.
        """
        return self._joint_space(robot).inverse_dynamics(self._scratch, acceleration)

    def close(self) -> None:
        """Do nothing: what MuJoCo holds goes with this object."""

    def _joint_space(self, robot: str) -> JointSpace:
        """Bring the present state to the scratch data, and give the robot's equation of motion."""
        self._scratch.qpos[:] = self._qpos
        self._scratch.qvel[:] = self._qvel
        if robot not in self._spaces:
            self._spaces[robot] = self._space_of(robot)
        return self._spaces[robot]

    def _space_of(self, robot: str) -> JointSpace:
        placed = self._scene.robot(robot)
        dofs = self._at.v[self._layout.robot_joints[robot]]
        free = placed.base is Base.FREE
        if free:
            root = self._layout.floating.index(f"{robot}/{placed.model.root}")
            dofs = np.concatenate([self._at.twists[root], dofs])
        return JointSpace(self._model, dofs=dofs, free_base=free)

    def _gone_wrong(self) -> bool:
        """Return whether the state is not finite or absurd, or MuJoCo has warned."""
        q, v = self._qpos, self._qvel
        speed = v.dot(v)
        sane = speed < _CALM or (speed < _ABSURD and q.dot(q) < _ABSURD)
        return not sane or self._warnings.tobytes() != self._unwarned
