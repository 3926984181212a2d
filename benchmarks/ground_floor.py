"""The model layer beside Pinocchio used directly."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio

from benchmarks.ratio import Ratio, compare
from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.model.assets import installed_packages
from kinetarium.spatial import se3


def ratios() -> Iterator[Ratio]:
    yield from _loading()
    yield from _dynamics()
    yield from _spatial()


def _loading() -> Iterator[Ratio]:
    data = installed_packages()["example-robot-data"] / "robots"
    for name in (
        "panda_description/urdf/panda_collision.urdf",
        "talos_data/robots/talos_reduced.urdf",
    ):
        file = data / name
        yield compare(
            f"load {Path(name).name}, meshes checked and cached",
            ours=lambda file=file: load_robot(file),
            peer=lambda file=file: pinocchio.buildModelFromUrdf(str(file)),
            peer_name="buildModelFromUrdf, no meshes",
            repeats=3,
            rounds=7,
        )


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
    poses = se3.exp(V)
    raw = [pinocchio.SE3(X) for X in poses]
    yield compare(
        "1000 x exp on SE(3), one call",
        ours=lambda: se3.exp(V),
        peer=lambda: [pinocchio.exp6(twist) for twist in V],
        peer_name="pinocchio.exp6 in a loop",
        repeats=5,
    )
    yield compare(
        "1000 x log on SE(3), one call",
        ours=lambda: se3.log(poses),
        peer=lambda: [pinocchio.log6(X) for X in raw],
        peer_name="pinocchio.log6 in a loop",
        repeats=5,
    )
