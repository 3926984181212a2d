"""The kernels of forward kinematics, called for many configurations."""

import numpy as np

from kinetarium.dynamics import forward
from kinetarium.dynamics.chain import ChainArrays
from kinetarium.spatial.arrays import Array


def jacobians(chain: ChainArrays, q: Array) -> Array:
    """The Jacobian of the tool for configurations, shape (n, joints), as (n, 6, joints)."""
    X, J = np.empty((q.shape[1] + 2, 3, 4)), np.empty((len(q), 6, q.shape[1]))
    for positions, result in zip(q, J, strict=True):
        forward.place(chain, positions, X)
        forward.differentiate(chain, X, result)
    return J


def manipulabilities(chain: ChainArrays, q: Array) -> Array:
    """The manipulability [m^3] of configurations, shape (n, joints), as (n,)."""
    return np.array([forward.volume(J) for J in jacobians(chain, q)])
