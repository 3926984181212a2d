"""drive and calibrate: wheeled robots in every engine, along paths and in steady turns."""

from kinetarium.batch.study import Study
from kinetarium.studies.drive.calibrate.config import CalibrateCase, CalibrateConfig
from kinetarium.studies.drive.config import DriveCase, DriveConfig

__all__ = ["Calibrate", "Drive"]


class Drive(Study[DriveConfig, DriveCase]):
    """Path following of wheeled robots with the same commanded wheel speeds in every engine."""

    name = "drive"
    help = "drive a mobile robot along paths, open or closed loop"
    title = "Path following of a mobile robot"
    config = DriveConfig
    case = DriveCase


class Calibrate(Study[CalibrateConfig, CalibrateCase]):
    """Identification of the track-width multiplier of skid-steer robots."""

    name = "calibrate"
    help = "identify the track-width multiplier of a skid-steer robot"
    title = "Skid-steer calibration"
    config = CalibrateConfig
    case = CalibrateCase
