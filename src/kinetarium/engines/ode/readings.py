"""Positions and speeds of joints, read from the poses and velocities of the bodies."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import atan2, tau
from typing import NamedTuple

import numpy as np

from kinetarium.engines.ode.build import NONE, WORLD, Assembly, OdeWorld
from kinetarium.engines.ode.library import (
    ANGULAR,
    FEEDBACK_SLOTS,
    LINEAR,
    NUMBERS,
    POSITION,
    QUATERNION,
    ROTATION,
    BodyMemory,
)
from kinetarium.model.robot import JointType
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation


class Term(NamedTuple):
    """A factor times two numbers of an array, which are given by their indices."""

    factor: float
    first: int
    second: int


class BilinearForms:
    """Sums of products of two numbers.

    All that is read from the bodies, angles, ways and speeds, is of this kind.
    With a dozen joints NumPy spends its time on calls, not on numbers, so that
    it pays to compute all forms at once.
    """

    def __init__(self, forms: Iterable[Sequence[Term]]) -> None:
        """Take the terms of each form."""
        forms = list(forms)
        terms = [term for form in forms for term in form]
        self._first = np.array([term.first for term in terms], dtype=np.intp)
        self._second = np.array([term.second for term in terms], dtype=np.intp)
        self._factors = np.array([term.factor for term in terms])
        lengths = [len(form) for form in forms]
        self._starts = np.cumsum([0, *lengths])[:-1]
        assert all(lengths), "a form without terms would take its neighbour's"

    def __call__(self, numbers: Array) -> Array:
        """Return the value of each form."""
        products = numbers.take(self._first) * numbers.take(self._second)
        products *= self._factors
        return np.add.reduceat(products, self._starts)


_BEFORE, _NOW = 0, 1
"""The two states of `BodyMemory.both`."""


class JointReadings:
    """Reads all joints at once.

    ODE's own readings will not do: its angle is that of the whole rotation, with
    the error off the axis in it, and its slider speed forgets the rotation of
    the parent. Speeds are taken along the axes at the start of the last step,
    when the joints had the positions at which ODE's velocities satisfy them.
    """

    def __init__(self, assembly: Assembly, children: Sequence[int]) -> None:
        """Prepare the readings.

        Args:
            assembly: The bodies.
            children: The body below each joint, in the order of coordinates.
        """
        ends = [_End(assembly, child) for child in children]
        hinges = [end for end in ends if not end.slides]
        sliders = [end for end in ends if end.slides]
        halves = [end.half_turn() for end in hinges]
        self._forms = BilinearForms(
            [
                *(sine for sine, _ in halves),
                *(cosine for _, cosine in halves),
                *(end.way() for end in sliders),
                *(end.speed() for end in ends),
            ]
        )
        # The coordinate of each hinge and slider; a slider's way beyond its position.
        self._hinges = [i for i, end in enumerate(ends) if not end.slides]
        self._sliders = [(i, float(e.axis @ e.arm)) for i, e in enumerate(ends) if e.slides]

    def read(self, memory: BodyMemory, near: Array) -> tuple[Array, Array]:
        """Return positions [rad or m] and speeds [rad/s or m/s], each of shape (joints,).

        Args:
            memory: The bodies.
            near: Positions less than half a turn away, shape (joints,).
        """
        values = self._forms(memory.both)
        numbers, q = values.tolist(), near.tolist()
        n = len(self._hinges)
        # With a dozen joints plain numbers are faster than arrays.
        for i, sine, cosine in zip(self._hinges, numbers, numbers[n:], strict=False):
            angle = 2 * atan2(sine, cosine)
            q[i] = angle + tau * round((q[i] - angle) / tau)
        for (i, zero), way in zip(self._sliders, numbers[2 * n :], strict=False):
            q[i] = way - zero
        return np.array(q), values[len(numbers) - len(q) :]


class _End:
    """The lower end of a joint, and the numbers of its two bodies in `BodyMemory.both`."""

    def __init__(self, assembly: Assembly, child: int) -> None:
        spec = assembly.specs[child]
        assert spec.joint is not None
        self._X_PJ = spec.X_PJ
        self.axis: Array = spec.joint.axis
        self.slides = spec.joint.type is JointType.PRISMATIC
        self._child = child
        self._parent = len(assembly.specs) if spec.parent == WORLD else spec.parent
        self._bodies = len(assembly.specs) + 1
        # The way from the parent's centre of mass to the child's at position zero, in child axes.
        center = np.zeros(3)
        if spec.parent != WORLD:
            center = assembly.specs[spec.parent].inertia.center
        p_PJ, R_PJ = spec.X_PJ[:3, 3], spec.X_PJ[:3, :3]
        self.arm: Array = R_PJ.T @ (p_PJ - center) + spec.inertia.center

    def way(self) -> list[Term]:
        """Return the way along the axis from the one centre of mass to the other."""
        return self._along(self.axis, POSITION, _NOW)

    def speed(self) -> list[Term]:
        """Return the speed along or about the axis."""
        if not self.slides:
            return self._along(self.axis, ANGULAR, _BEFORE)
        turned = self._dot(-np.cross(self.arm, self.axis), self._parent, ANGULAR, _BEFORE)
        return self._along(self.axis, LINEAR, _BEFORE) + turned

    def half_turn(self) -> tuple[list[Term], list[Term]]:
        """Return sine and cosine of half the angle.

        The quaternion of the motion is J* P* C with the parent's P, the child's C
        and the joint's J. Its vector part along the axis is the sine, its scalar
        part the cosine.
        """
        J = quaternion_from_rotation(self._X_PJ[:3, :3])
        unit = np.eye(4)
        sine, cosine = [], []
        for p, c in product(range(4), repeat=2):
            turn = _product(_conjugate(_product(unit[p], J)), unit[c])
            places = (
                self._place(self._parent, QUATERNION, p),
                self._place(self._child, QUATERNION, c),
            )
            sine.append(Term(float(turn[1:] @ self.axis), *places))
            cosine.append(Term(float(turn[0]), *places))
        return sine, cosine

    def _along(self, vector: Array, part: slice, when: int) -> list[Term]:
        """Multiply a vector of the child at a time by the difference of two vectors now."""
        plus = self._dot(vector, self._child, part, when)
        return plus + self._dot(-vector, self._parent, part, when)

    def _dot(self, vector: Array, body: int, part: slice, when: int) -> list[Term]:
        """Multiply a vector fixed to the child at a time by a world vector of a body now."""
        return [
            Term(
                float(vector[j]),
                self._place(self._child, ROTATION, 3 * i + j, when),
                self._place(body, part, i),
            )
            for i, j in product(range(3), repeat=2)
            if vector[j]
        ]

    def _place(self, body: int, part: slice, index: int, when: int = _NOW) -> int:
        start: int = part.start
        return (when * NUMBERS + start + index) * self._bodies + body


def _product(a: Array, b: Array) -> Array:
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], vector])


def _conjugate(a: Array) -> Array:
    return np.concatenate([a[:1], -a[1:]])


class OdeSensors:
    """The force-torque sensors of a scene."""

    def __init__(self, world: OdeWorld, scene: Scene) -> None:
        """Ask ODE for the feedback of the joints that carry sensors."""
        self._world = world
        self._children: dict[str, int] = {}
        by_joint = {
            (spec.name.partition("/")[0], spec.joint.name): i
            for i, spec in enumerate(world.specs)
            if spec.joint is not None
        }
        self._feedback = np.zeros((len(scene.sensors), 2, FEEDBACK_SLOTS))
        self._rows = {sensor.name: row for row, sensor in enumerate(scene.sensors)}
        for row, sensor in enumerate(scene.sensors):
            child = by_joint[sensor.robot, sensor.joint]
            self._children[sensor.name] = child
            handles = [world.welds[child]] if child in world.welds else []
            if world.specs[child].coordinate != NONE:
                joint = world.joints[world.specs[child].coordinate]
                handles = [joint.handle, joint.motor]
            for part, handle in enumerate(handles):
                address = self._feedback[row, part].ctypes.data
                world.library.dJointSetFeedback(handle, address)

    def wrench(self, name: str, bodies: Array, efforts: Array) -> Array:
        """Return the wrench of the load [N, N m] in the child's frame about its origin, shape (6,).

        Args:
            name: The sensor.
            bodies: The state of the bodies at the start of the last step, shape (22, n + 1).
            efforts: What was pushed along the joints during it [N m or N], shape (joints,).
        """
        child = self._children[name]
        spec = self._world.specs[child]
        feedback = self._feedback[self._rows[name]].sum(axis=0)
        force, torque = feedback[:3], feedback[4:7]  # on the child, about its centre of mass
        R = bodies[ROTATION, child].reshape(3, 3)
        if spec.coordinate != NONE:
            joint, effort = self._world.joints[spec.coordinate], efforts[spec.coordinate]
            push = effort * R @ joint.joint.axis
            if joint.revolute:
                torque = torque + push
            else:
                # ODE lets a slider's force act half way between the bodies.
                halfway = (bodies[POSITION, spec.parent] - bodies[POSITION, child]) / 2
                arm = np.zeros(3) if spec.parent == WORLD else halfway
                force, torque = force + push, torque + np.cross(arm, push)
        f, m = R.T @ force, R.T @ torque
        return -np.concatenate([f, m + np.cross(spec.inertia.center, f)])
