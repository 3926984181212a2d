"""A grasp to watch: the arm, the cube and what the pads feel, as recorded."""

from kinetarium.figure.replay import Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.recording.recording import Recording
from kinetarium.scene.grasped_cube import grasped_cube, gripper_arm


def replay(recording: Recording) -> Replay:
    """Show a grasp; everything that differs between cases was recorded."""
    scene = grasped_cube(gripper_arm(coupled=False), actuation={})
    return scene_replay(scene, recording, trails=("cube",))
