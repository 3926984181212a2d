"""Force-torque sensors, read from the feedback of ODE's joints."""

import numpy as np

from kinetarium.engines.ode.assembly import NONE, WORLD
from kinetarium.engines.ode.library import FEEDBACK_SLOTS
from kinetarium.engines.ode.memory import POSITION, ROTATION
from kinetarium.engines.ode.world import OdeWorld
from kinetarium.errors import UnknownNameError
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array


class OdeSensors:
    """The force-torque sensors of a scene."""

    def __init__(self, world: OdeWorld, scene: Scene) -> None:
        """Ask ODE for the feedback of the joints that carry sensors.

        Args:
            world: The world.
            scene: The scene.
        """
        self._world = world
        self._children: dict[str, int] = {}
        by_joint = {
            (piece.name.partition("/")[0], piece.joint.name): i
            for i, piece in enumerate(world.pieces)
            if piece.joint is not None
        }
        self._feedback = np.zeros((len(scene.sensors), 2, FEEDBACK_SLOTS))
        self._rows = {sensor.name: row for row, sensor in enumerate(scene.sensors)}
        for row, sensor in enumerate(scene.sensors):
            child = by_joint[sensor.robot, sensor.joint]
            self._children[sensor.name] = child
            handles = [world.welds[child]] if child in world.welds else []
            if world.pieces[child].coordinate != NONE:
                joint = world.joints[world.pieces[child].coordinate]
                handles = [joint.handle, joint.motor]
            for part, handle in enumerate(handles):
                address = self._feedback[row, part].ctypes.data
                world.library.dJointSetFeedback(handle, address)

    def forget(self) -> None:
        """Read zero until the next step."""
        self._feedback[...] = 0.0

    def save(self) -> Array:
        """Copy the readings of the last step."""
        return self._feedback.copy()

    def restore(self, saved: Array) -> None:
        """Put readings back."""
        self._feedback[...] = saved

    def wrench(self, name: str, bodies: Array, efforts: Array) -> Array:
        """Give the wrench of the load [N, N m] in the child's frame about its origin, shape (6,).

        Args:
            name: The sensor.
            bodies: The state of the bodies at the start of the last step, shape (22, n + 1).
            efforts: What was pushed along the joints during it [N m or N], shape (joints,).

        Raises:
            UnknownNameError: If there is no such sensor.
        """
        if name not in self._rows:
            raise UnknownNameError("sensor", name, known=self._rows)
        child = self._children[name]
        piece = self._world.pieces[child]
        feedback = self._feedback[self._rows[name]].sum(axis=0)
        force, torque = feedback[:3], feedback[4:7]  # on the child, about its centre of mass
        R = bodies[ROTATION, child].reshape(3, 3)
        if piece.coordinate != NONE:
            joint, effort = self._world.joints[piece.coordinate], efforts[piece.coordinate]
            push = effort * R @ joint.joint.axis
            if joint.revolute:
                torque = torque + push
            else:
                # ODE lets a slider's force act half way between the bodies.
                halfway = (bodies[POSITION, piece.parent] - bodies[POSITION, child]) / 2
                arm = np.zeros(3) if piece.parent == WORLD else halfway
                force, torque = force + push, torque + np.cross(arm, push)
        f, m = R.T @ force, R.T @ torque
        return -np.concatenate([f, m + np.cross(piece.inertia.center, f)])
