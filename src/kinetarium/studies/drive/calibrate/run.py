"""One steady turn."""

from math import pi

from kinetarium.control.vehicle.laws import FeedForward, PlanarPose
from kinetarium.control.vehicle.reference import SteadyReference
from kinetarium.control.vehicle.wheel_driver import WheelDriver
from kinetarium.engines.registry import open_engine
from kinetarium.recording.recording import Recording
from kinetarium.studies.drive.calibrate.config import CalibrateCase
from kinetarium.studies.drive.profiles import CONTROL_RATE, settings
from kinetarium.studies.drive.run import SETTLE, drive
from kinetarium.studies.drive.vehicle import vehicle

ORIGIN = PlanarPose(0.0, 0.0, 0.0)
STEADY = 1.0
"""Time after the start of the reference until a turn is steady [s]."""


def run(case: CalibrateCase) -> Recording:
    """Turn the robot at constant speeds: half a turn as commanded, a whole one in place."""
    engine = open_engine(case.engine)
    chosen = settings(engine, case.profile)
    robot = vehicle(case.robot)
    time = STEADY + (pi if case.v else 2 * pi) / case.w
    driver = WheelDriver(
        SteadyReference(case.v, case.w, time),
        law=FeedForward(),
        drive=robot.drive(),
        left=robot.left,
        wait=SETTLE,
        rate=CONTROL_RATE,
    )
    return drive(
        engine,
        robot=case.robot,
        chosen=chosen,
        controller=driver,
        start=ORIGIN,
        duration=SETTLE + time,
        seed=case.seed,
    )
