"""A drive to watch: the robot on its wheels, and the path it was to follow."""

import numpy as np

from kinetarium.control.driving_reference import DrivingReference
from kinetarium.figure.replay import Guide, Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.recording.recording import Recording
from kinetarium.scene import driving_ground
from kinetarium.studies.drive.config import Robot

_POINTS = 400
"""Of the path, as drawn."""


def replay(
    robot: Robot, recording: Recording, *, reference: DrivingReference | None = None
) -> Replay:
    """Show a drive.

    Args:
        robot: The robot.
        recording: What was recorded of it.
        reference: What it was to follow; nothing is drawn if None.
    """
    scene = driving_ground(robot.value)
    root = scene.robots[0].model.root
    guides = (_guide(reference),) if reference else ()
    return scene_replay(scene, recording, guides=guides, trails=(f"vehicle/{root}",))


def _guide(reference: DrivingReference) -> Guide:
    placements, _ = reference.sample(np.linspace(0.0, reference.duration, _POINTS))
    points = np.column_stack([placements[:, :2], np.full(_POINTS, 2e-3)])
    return Guide("reference", points)
