"""The model layer beside Pinocchio used directly."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio

from benchmarks.ratio import Ratio, compare
from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.model.assets import installed_packages
from kinetarium.spatial import se3, so3


def ratios() -> Iterator[Ratio]:
    yield from _loading()
    yield from _dynamics()
    yield from _spatial()


_ROBOTS = (
    "hector_description/robots/quadrotor_base",
    "kinova_description/robots/kinova",
    "panda_description/urdf/panda",
    "talos_data/robots/talos_reduced",
    "ur_description/urdf/ur5_gripper",
    "xarm_description/urdf/xarm7",
)
"""Public robots of one link to fifty, those with the highest ratios among them."""


def _loading() -> Iterator[Ratio]:
    """Yield the worst and the median ratio over the robots."""
    data = installed_packages()["example-robot-data"] / "robots"
    rows = [
        compare(
            Path(name).name,
            ours=lambda file=data / f"{name}.urdf": load_robot(file),
            peer=lambda file=data / f"{name}.urdf": pinocchio.buildModelFromUrdf(str(file)),
            peer_name="buildModelFromUrdf, no meshes",
            repeats=1,  # as in use: neither finds its own code in the cache
            rounds=30,
        )
        for name in _ROBOTS
    ]
    rows.sort(key=lambda row: row.ratio)
    for what, row in (("median", rows[len(rows) // 2]), ("worst", rows[-1])):
        subject = f"load a robot, meshes cached: {what} of {len(rows)}, {row.subject}"
        yield replace(row, subject=subject)


def _dynamics() -> Iterator[Ratio]:
    robot = RobotDynamics(load_robot("panda"))
    file = installed_packages()["example-robot-data"] / "robots/panda_description/urdf/panda.urdf"
    raw = pinocchio.buildModelFromUrdf(str(file))
    data = raw.createData()
    rng = np.random.default_rng(0)
    q, v, a = (rng.uniform(-1, 1, raw.nv) for _ in range(3))
    pairs = {
        "mass matrix": (
            lambda: robot.mass_matrix(q),
            lambda: pinocchio.crba(raw, data, q),
        ),
        "inverse dynamics": (
            lambda: robot.inverse_dynamics(q, v, a),
            lambda: pinocchio.rnea(raw, data, q, v, a),
        ),
        "forward dynamics": (
            lambda: robot.forward_dynamics(q, v, a),
            lambda: pinocchio.aba(raw, data, q, v, a),
        ),
    }
    for subject, (ours, peer) in pairs.items():
        yield compare(
            f"panda, {subject}", ours=ours, peer=peer, peer_name="raw Pinocchio", repeats=500
        )


def _spatial() -> Iterator[Ratio]:
    rng = np.random.default_rng(1)
    V = rng.uniform(-1, 1, (1000, 6))
    w, X = V[:, 3:].copy(), se3.exp(V)
    R = X[:, :3, :3].copy()
    raw = [pinocchio.SE3(pose) for pose in X]
    pairs = {
        "exp on SO(3)": (lambda: so3.exp(w), lambda: [pinocchio.exp3(one) for one in w]),
        "log on SO(3)": (lambda: so3.log(R), lambda: [pinocchio.log3(one) for one in R]),
        "exp on SE(3)": (lambda: se3.exp(V), lambda: [pinocchio.exp6(one) for one in V]),
        "log on SE(3)": (lambda: se3.log(X), lambda: [pinocchio.log6(one) for one in raw]),
        "adjoint": (lambda: se3.adjoint(X), lambda: [one.action for one in raw]),
        "inverse": (lambda: se3.inverse(X), lambda: [one.inverse() for one in raw]),
        "product": (lambda: X @ X, lambda: [one * one for one in raw]),
    }
    for subject, (ours, peer) in pairs.items():
        yield compare(
            f"1000 x {subject}, one call",
            ours=ours,
            peer=peer,
            peer_name="Pinocchio in a loop",
            repeats=5,
        )
