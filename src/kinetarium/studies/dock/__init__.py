"""dock, dock-stability, dock-float and dock-mission: satellite docking, on arms and in orbit."""

from kinetarium.batch.study import Study
from kinetarium.studies.dock.floating.config import FloatCase, FloatConfig
from kinetarium.studies.dock.mission.config import MissionCase, MissionConfig
from kinetarium.studies.dock.press.config import DockCase, DockConfig
from kinetarium.studies.dock.stability.config import StabilityCase, StabilityConfig

__all__ = ["Dock", "DockFloat", "DockMission", "DockStability"]


class Dock(Study[DockConfig, DockCase]):
    """Docking under admittance control, with a desired contact wrench."""

    name = "dock"
    help = "dock two satellites with two arms under admittance control"
    title = "Satellite docking with two arms"
    config = DockConfig
    case = DockCase


class DockStability(Study[StabilityConfig, StabilityCase]):
    """Critical delay of an admittance loop over the contact stiffness."""

    name = "dock-stability"
    help = "map the delay and stiffness at which admittance is stable"
    title = "Stability of an admittance loop"
    config = StabilityConfig
    case = StabilityCase


class DockFloat(Study[FloatConfig, FloatCase]):
    """Emulation of two free-floating satellites by two arms with a delay."""

    name = "dock-float"
    help = "simulate the contact of free-floating satellites on two arms"
    title = "Free-floating satellites on two arms"
    config = FloatConfig
    case = FloatCase


class DockMission(Study[MissionConfig, MissionCase]):
    """A rendezvous in orbit, from tens of metres to the capture of a tumbling target."""

    name = "dock-mission"
    help = "fly from 50 m in orbit to the capture of a tumbling target"
    title = "From orbit to capture"
    config = MissionConfig
    case = MissionCase
