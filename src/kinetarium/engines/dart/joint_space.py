"""The equation of motion of one robot as DART sees it: M a + C v + g = tau.

DART writes a free root as [w; v] of its centre of mass C in world axes. With r
the vector from the root link's origin to C, our [v; w] of the root link becomes

    [w; v_C] = T [v; w],  T = [[0, 1], [1, -[r]]],

and M = T' M_dart T, tau = T' tau_dart, a_dart = T a + [0; w x (w x r)].
"""

import numpy as np

from kinetarium.engines.dart.floating import Floating
from kinetarium.engines.dart.skeletons import Articulation
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array


class JointSpace:
    """M and tau of one robot at the state that DART is in.

    Contacts, constraints, joint damping and friction are no part of it; the
    inertia of the drives is.
    """

    def __init__(self, robot: Articulation, *, armature: Array) -> None:
        """Choose a robot.

        Args:
            robot: The robot.
            armature: Inertia of its drives [kg m^2 or kg], zero for a free base, shape (n,). DART
                has no place for it.
        """
        self._skeleton = robot.skeleton
        self._floating = None if robot.p_BC is None else Floating(robot.p_BC)
        self._armature = armature
        self._armed = bool(armature.any())
        self._diagonal = np.diag_indices(len(self._armature))

    def mass_matrix(self) -> Array:
        """Give M in Kinetarium's coordinates."""
        M: Array = self._skeleton.getMassMatrix()
        if self._floating:
            T = self._transform(self._floating.center_offset(self._skeleton.getPositions()))
            M = T.T @ M @ T
        if self._armed:
            M[self._diagonal] += self._armature
        return M

    def inverse_dynamics(self, acceleration: Array) -> Array:
        """Give tau of an acceleration in Kinetarium's coordinates."""
        skeleton, a = self._skeleton, acceleration
        if self._floating:
            r = self._floating.center_offset(skeleton.getPositions())
            w = skeleton.getVelocities()[:3]
            T = self._transform(r)
            a = T @ a
            a[3:6] += np.cross(w, np.cross(w, r))
        skeleton.setAccelerations(a)
        skeleton.computeInverseDynamics(False, False, False)
        tau: Array = skeleton.getForces()
        if self._floating:
            tau = T.T @ tau
        if self._armed:
            tau += self._armature * acceleration
        return tau

    def _transform(self, r: Array) -> Array:
        T = np.eye(len(self._armature))
        T[:3, :3] = 0.0
        T[:3, 3:6] = T[3:6, :3] = np.eye(3)
        T[3:6, 3:6] = -so3.hat(r)
        return T
