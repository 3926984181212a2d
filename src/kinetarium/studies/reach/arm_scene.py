"""The arm at every pose that it reaches from one base, in one scene."""

from typing import TYPE_CHECKING

import numpy as np

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.decimate import decimate
from kinetarium.figure.robot_scene import robot_scene
from kinetarium.figure.scene3d import Body, Scene3D
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.markers import obstacle_bodies, pose_markers

if TYPE_CHECKING:
    from kinetarium.reach.placement import Placer

MOST_FACES = 60_000
"""Triangles of the whole scene; more would make a page slow."""
FEW = 3
"""So many arms are all drawn solid; of more, the first is, and the others let it be seen."""
CLEAR = 0.25
"""Opacity of the others."""
MOST_ARMS = 20
"""Arms that are drawn; the frames of all poses are."""


def arm_scene(
    title: str, placer: "Placer", *, bases: Array, joints: Array, poses: Array
) -> Scene3D:
    """Draw the arm in configurations, each from its base, the frames it is to reach, and obstacles.

    Args:
        title: What it shows.
        placer: The arm and what stands around it.
        bases: Poses X_WB of the base link for each configuration, shape (n, 4, 4).
        joints: Positions of the chain's joints [rad or m], shape (n, joints).
        poses: Poses X_WT of the tool, reached or not, shape (m, 4, 4).
    """
    some = np.unique(np.linspace(0, len(joints) - 1, min(len(joints), MOST_ARMS)).astype(int))
    bodies: dict[tuple[str, bytes], Body] = {}
    chain = placer.arm.chain
    model = chain.model
    base = [link.name for link in model.links].index(chain.base_link)
    opaque = 0
    for n in some:
        whole = chain.whole(joints[n])
        X_RB = link_poses(model, whole)[base]
        scene = robot_scene(model, whole, X_WB=bases[n] @ inverse_pose(X_RB))
        for body in scene.bodies if scene else ():
            # A link that stands in the same place in all configurations is drawn once.
            place = np.round(body.X_WB, 9).tobytes() + repr(body.color).encode()
            bodies.setdefault((body.name, place), body)
        if not opaque or len(some) <= FEW:
            opaque = len(bodies)
    faces = sum(len(body.mesh.faces) for body in bodies.values())
    share = min(1.0, MOST_FACES / max(faces, 1))
    fewer = [
        Body(
            body.name,
            decimate(body.mesh, most_faces=max(int(share * len(body.mesh.faces)), 12)),
            (*body.color[:3], body.color[3] if number < opaque else CLEAR),
            body.X_WB,
        )
        for number, body in enumerate(bodies.values())
    ]
    frames = pose_markers(poses, radius=placer.radius)
    around = obstacle_bodies(placer.obstacles, X_WP=placer.plane.frame)
    return Scene3D(title, tuple(b for b in (*fewer, *frames, *around) if len(b.mesh.faces)))
