"""A walking machine on four pantograph legs: mechanism, gaits, static stability, walks.

There is no physics here and there are no units of length: lengths are in the machine's own
unit, angles in radians.

The interface:

- `PantographLeg` is one leg: joint values to foot and back, passive angles, link poses.
- `Machine` is the robot (body, four mirrored legs, drawn links), `save_machine` and
  `load_machine` store it as JSON; `Machine.leg` is its leg, `Machine.hips` the leg frames.
- `WalkPlan` describes a walk of a machine; `Terrain` is the ground.
- `quadruped_model` and `quadruped_mjcf` return a machine in SI units, as a model and as MJCF.
- `plan_walk(plan) -> PlannedWalk` computes every frame: body, joints, links, feet, support, margin,
  and warnings (`WalkWarning`).
- `Linkage` is a planar linkage of one crank as a leg (`KLANN`, `JANSEN`), `LinkageWalker` a robot
  on four of them; `Gait` (`TROT`) is a periodic gait and `HeightMap` uneven ground, both of a plan.
- `TABLE_1` lists the leg orders of the 1988 paper by row; legs are numbered 1 rear right,
  2 front right, 3 rear left, 4 front left, and are in that order along arrays.
"""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.legs.linkage import JANSEN as JANSEN
    from kinetarium.legs.linkage import KLANN as KLANN
    from kinetarium.legs.linkage import Linkage as Linkage
    from kinetarium.legs.linkage import LinkageWalker as LinkageWalker
    from kinetarium.legs.mechanism.machine import LinkShape as LinkShape
    from kinetarium.legs.mechanism.machine import Machine as Machine
    from kinetarium.legs.mechanism.machine import load_machine as load_machine
    from kinetarium.legs.mechanism.machine import save_machine as save_machine
    from kinetarium.legs.mechanism.pantograph import LegKind as LegKind
    from kinetarium.legs.mechanism.pantograph import LegsError as LegsError
    from kinetarium.legs.mechanism.pantograph import PantographLeg as PantographLeg
    from kinetarium.legs.quadruped import quadruped_mjcf as quadruped_mjcf
    from kinetarium.legs.quadruped import quadruped_model as quadruped_model
    from kinetarium.legs.walk.height_map import HeightMap as HeightMap
    from kinetarium.legs.walk.plan import TABLE_1 as TABLE_1
    from kinetarium.legs.walk.plan import TROT as TROT
    from kinetarium.legs.walk.plan import Curve as Curve
    from kinetarium.legs.walk.plan import Gait as Gait
    from kinetarium.legs.walk.plan import GaitTiming as GaitTiming
    from kinetarium.legs.walk.plan import Heading as Heading
    from kinetarium.legs.walk.plan import Segment as Segment
    from kinetarium.legs.walk.plan import Step as Step
    from kinetarium.legs.walk.plan import Terrain as Terrain
    from kinetarium.legs.walk.plan import WalkPlan as WalkPlan
    from kinetarium.legs.walk.planner import plan_walk as plan_walk
    from kinetarium.legs.walk.walk import LEG_NAMES as LEG_NAMES
    from kinetarium.legs.walk.walk import LegStep as LegStep
    from kinetarium.legs.walk.walk import PlannedWalk as PlannedWalk
    from kinetarium.legs.walk.walk import WalkWarning as WalkWarning
    from kinetarium.legs.walk.walk import WarningKind as WarningKind
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
