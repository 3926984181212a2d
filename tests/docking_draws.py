"""Random dockings: wrenches with moments, misalignments, speeds and arms."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pybullet_data

from kinetarium.errors import KinetariumError
from kinetarium.model.assets import installed_packages
from kinetarium.studies.dock.press.cases import cases
from kinetarium.studies.dock.press.config import Contact, DockCase, DockConfig, PresetName

UR10 = installed_packages()["example-robot-data"] / "robots/ur_description/urdf/ur10_robot.urdf"
IIWA = Path(pybullet_data.getDataPath()) / "kuka_iiwa/model.urdf"
ARMS = {"kr250": 0.0, str(UR10): 1.0, str(IIWA): 1.0}
"""Payloads by arm [kg]; 0 for the preset's 100 kg."""


def drawn_dockings(count: int, *, engine: str, seed: int = 0) -> Iterator[DockCase | str]:
    """Yield cases, or why a docking is refused.

    Forces of 200 to 500 N with moments of up to 20 N m; a third of them on elastic faces with
    friction, with forces of up to 30 N and moments of up to 5 N m along and about the normal's
    plane; misalignments of up to 10 mm and 3 degrees; 10 to 60 mm/s.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        arm = str(rng.choice(list(ARMS)))
        rough = rng.random() < 1 / 3
        across = 8.0 if rough else 20.0
        wrench = [-rng.uniform(200, 500), 0.0, 0.0, 0.0, *_inside(rng, 2, across)]
        if rough:
            wrench[1:4] = [*_inside(rng, 2, 30.0), rng.uniform(-5, 5)]
        offset, turn = _inside(rng, 3, 10e-3), _inside(rng, 3, np.radians(3.0))
        config = DockConfig(
            chaser=arm,
            payload_kg=ARMS[arm],
            preset=(PresetName.RECOMMENDED,),
            engine=(engine,),
            wrench=tuple(float(value) for value in wrench),
            misalign=tuple(f"{value:.9f}" for value in (*offset, *turn)),
            speed=float(rng.uniform(0.01, 0.06)),
            contact=Contact.FACE if rough else Contact.PRESCRIBED,
            friction=0.3 if rough else 0.0,
            seed=number,
        )
        try:
            yield cases(config)[0]
        except KinetariumError as error:
            yield str(error)


def _inside(rng: np.random.Generator, axes: int, most: float) -> np.ndarray:
    """Draw a vector of a length up to `most`, in any direction."""
    direction = rng.standard_normal(axes)
    return most * rng.random() * direction / np.linalg.norm(direction)
