"""Where the things of a scene lie in the arrays of its MuJoCo model."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.layout import Layout
from kinetarium.scene import Scene

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Addresses:
    """Indices into MuJoCo's arrays.

    Attributes:
        q: Into qpos, of each joint, shape (n,).
        v: Into qvel, of each joint, shape (n,).
        poses: Into qpos, of position and quaternion of each floating solid, shape (f, 7).
        twists: Into qvel, of the twist of each floating solid, shape (f, 6).
        bodies: The body of each solid, by name.
        geom_solids: The solid of each geom, shape (geoms,).
        sensors: Into sensordata, of each sensor's force, which the torque follows, by name.
    """

    q: Indices
    v: Indices
    poses: Indices
    twists: Indices
    bodies: dict[str, int]
    geom_solids: NDArray[np.int32]
    sensors: dict[str, int]

    @classmethod
    def of(cls, scene: Scene, layout: Layout, *, model: mujoco.MjModel) -> "Addresses":
        """Look up a scene in the model built from it."""
        bodies = {name: model.body(name).id for name in layout.solids}
        solids = np.full(model.nbody, -1, dtype=np.int32)
        solids[list(bodies.values())] = np.arange(len(bodies))
        joints = [model.joint(name).id for name in layout.joints]
        free = [model.body_jntadr[bodies[name]] for name in layout.floating]
        return cls(
            q=model.jnt_qposadr[joints].astype(np.intp),
            v=model.jnt_dofadr[joints].astype(np.intp),
            poses=model.jnt_qposadr[free].astype(np.intp)[:, np.newaxis] + np.arange(7),
            twists=model.jnt_dofadr[free].astype(np.intp)[:, np.newaxis] + np.arange(6),
            bodies=bodies,
            geom_solids=solids[model.geom_bodyid],
            sensors={s.name: int(model.sensor(f"{s.name}#force").adr[0]) for s in scene.sensors},
        )
