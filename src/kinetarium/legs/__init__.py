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

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

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
    "LEG_NAMES": "kinetarium.legs.walk",
    "TABLE_1": "kinetarium.legs.gait",
    "Curve": "kinetarium.legs.course",
    "Heading": "kinetarium.legs.course",
    "LegKind": "kinetarium.legs.leg_kind",
    "LegStep": "kinetarium.legs.walk",
    "LegsError": "kinetarium.legs.error",
    "LinkShape": "kinetarium.legs.link_shape",
    "Machine": "kinetarium.legs.machine",
    "PantographLeg": "kinetarium.legs.pantograph",
    "Step": "kinetarium.legs.terrain",
    "Terrain": "kinetarium.legs.terrain",
    "Timing": "kinetarium.legs.gait",
    "Walk": "kinetarium.legs.walk",
    "WalkPlan": "kinetarium.legs.walk_plan",
    "WalkWarning": "kinetarium.legs.walk",
    "WarningKind": "kinetarium.legs.walk",
    "load_machine": "kinetarium.legs.machine_file",
    "plan_walk": "kinetarium.legs.planner",
    "quadruped_mjcf": "kinetarium.legs.quadruped_file",
    "quadruped_model": "kinetarium.legs.quadruped",
    "save_machine": "kinetarium.legs.machine_file",
}

__all__ = list(_HOMES)
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
