"""A walking machine on four pantograph legs: mechanism, gaits, static stability, walks.

Nothing here knows physics or units: lengths are in the machine's own unit, angles in radians.

The whole interface:

- `PantographLeg` is one leg: joint values to foot and back, passive angles, link poses.
- `Machine` is the robot (body, four mirrored legs, drawn links), `save_machine` and
  `load_machine` keep it as JSON; `Machine.leg` is its leg, `Machine.hips` where the legs hang.
- `WalkPlan` says where and how a machine is to walk, in plain values; `Terrain` is the ground.
- `quadruped_model` and `quadruped_mjcf` give a machine in SI units, for engines and as a file.
- `plan_walk(plan) -> Walk` gives every frame: body, joints, links, feet, support, margin, and
  `WalkWarning`s in words.
- `TABLE_1` holds the leg orders of the 1988 paper by row; legs are numbered 1 rear right,
  2 front right, 3 rear left, 4 front left, and stand in that order along arrays.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetarium.legs.course import Curve as Curve
    from kinetarium.legs.course import Heading as Heading
    from kinetarium.legs.error import LegsError as LegsError
    from kinetarium.legs.gait import TABLE_1 as TABLE_1
    from kinetarium.legs.gait import Timing as Timing
    from kinetarium.legs.leg_kind import LegKind as LegKind
    from kinetarium.legs.link_shape import LinkShape as LinkShape
    from kinetarium.legs.machine import Machine as Machine
    from kinetarium.legs.machine_file import load_machine as load_machine
    from kinetarium.legs.machine_file import save_machine as save_machine
    from kinetarium.legs.pantograph import PantographLeg as PantographLeg
    from kinetarium.legs.planner import plan_walk as plan_walk
    from kinetarium.legs.quadruped import quadruped_model as quadruped_model
    from kinetarium.legs.quadruped_file import quadruped_mjcf as quadruped_mjcf
    from kinetarium.legs.terrain import Step as Step
    from kinetarium.legs.terrain import Terrain as Terrain
    from kinetarium.legs.walk import LEG_NAMES as LEG_NAMES
    from kinetarium.legs.walk import LegStep as LegStep
    from kinetarium.legs.walk import Walk as Walk
    from kinetarium.legs.walk import WalkWarning as WalkWarning
    from kinetarium.legs.walk import WarningKind as WarningKind
    from kinetarium.legs.walk_plan import WalkPlan as WalkPlan

_HOMES = {
    "LEG_NAMES": "walk",
    "TABLE_1": "gait",
    "Curve": "course",
    "Heading": "course",
    "LegKind": "leg_kind",
    "LegStep": "walk",
    "LegsError": "error",
    "LinkShape": "link_shape",
    "Machine": "machine",
    "PantographLeg": "pantograph",
    "Step": "terrain",
    "Terrain": "terrain",
    "Timing": "gait",
    "Walk": "walk",
    "WalkPlan": "walk_plan",
    "WalkWarning": "walk",
    "WarningKind": "walk",
    "load_machine": "machine_file",
    "plan_walk": "planner",
    "quadruped_mjcf": "quadruped_file",
    "quadruped_model": "quadruped",
    "save_machine": "machine_file",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: flags are made of some, and stay light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kinetarium.legs' has no attribute {name!r}")
    return getattr(import_module(f"kinetarium.legs.{_HOMES[name]}"), name)
