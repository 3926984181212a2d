"""One steady turn."""

from math import pi

from kinetarium.control.vehicle.laws import FeedForward, PlanarPose
from kinetarium.control.vehicle.reference import SteadyReference
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.engines.registry import open_engine
from kinetarium.recording.recording import Recording
from kinetarium.studies.drive.calibrate.config import CalibrateCase
from kinetarium.studies.drive.coulomb import usual_multiplier
from kinetarium.studies.drive.profiles import settings_of
from kinetarium.studies.drive.run import drive
from kinetarium.studies.drive.vehicle import opened

ORIGIN = PlanarPose(0.0, 0.0, 0.0)
STEADY = 1.0
"""Time after the start of the reference until a turn is steady [s]."""


def run(case: CalibrateCase) -> Recording:
    """Turn the robot at constant speeds: half a turn as commanded, a whole one in place."""
    engine = open_engine(case.engine)
    robot = opened(case.reading, case.robot, case.sha256)
    base = vehicle(robot)
    chosen = settings_of(engine, case.profile, base)
    time = STEADY + (pi if case.v else 2 * pi) / case.w
    return drive(
        engine,
        robot=robot,
        chosen=chosen,
        reference=SteadyReference(case.v, case.w, time),
        law=FeedForward(),
        multiplier=usual_multiplier(base),
        start=ORIGIN,
        seed=case.seed,
    )
