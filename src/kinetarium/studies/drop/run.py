"""One run: a box is dropped onto the ground."""

from kinetarium.model.robot import Box
from kinetarium.recording.recording import Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Scene, free_body, ground
from kinetarium.spatial.arrays import frozen
from kinetarium.studies.drop.cases import GRAVITY
from kinetarium.studies.drop.config import Case


def run(case: Case) -> Recording:
    """Drop the box, and record every step."""
    return simulate(
        scene(case),
        engine=case.engine,
        duration=case.duration,
        timestep=case.timestep,
        sample_rate=1 / case.timestep,
        seed=case.seed,
    )


def scene(case: Case) -> Scene:
    """Return the scene, the lower face of the box at the drop height."""
    box = free_body(
        "box",
        Box((case.size, case.size, case.size)),
        mass=case.mass,
        position=(0.0, 0.0, case.height + case.size / 2),
    )
    return Scene(bodies=(ground(), box), gravity=frozen([0.0, 0.0, -GRAVITY]))
