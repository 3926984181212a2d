"""Config and cases of the pick study: scenes, engines, placements, with and without re-planning."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Friction, Range, Seed
from kinetarium.roles.options import RoleOptions
from kinetarium.scene.tables import TableScene

Localisation = Annotated[tuple[float, float], Range(0.0, 45.0, unit="m, deg")]
Force = Annotated[float, Range(0.1, 1e4, unit="N")]
Timestep = Annotated[float, Range(1e-4, 0.002, unit="s")]
"""The longest is the period of the arm's commands."""
Scenes = Annotated[int, Range(1, 10_000, unit="-")]


class Placement(StrEnum):
    """How the base is chosen."""

    ROBUST = "robust"
    """By the reachability map, such that all grasps are kept under errors of the base."""
    MAP = "map"
    """By the reachability map alone."""
    FIXED = "fixed"
    """At a fixed distance in front of the object, facing it across the nearest table edge."""
    RANDOM = "random"
    """Anywhere free around the object, within the arm's length, facing it."""


class Replan(StrEnum):
    """Whether the arm's motion is planned again where the base has stopped."""

    YES = "yes"
    NO = "no"
    BOTH = "both"


@dataclass(frozen=True, kw_only=True)
class Config(RoleOptions):
    """Objects on tables that a mobile manipulator picks.

    Attributes:
        robot: Robot file or name of the catalogue, with driven wheels, an arm and a gripper.
        engine: Engines to run; all available ones by default.
        scenes: Number of random scenes [-].
        scene: Files of scenes with tables, instead of random ones.
        objects: Objects in a random scene [-].
        tables: Tables in a random scene [-].
        placement: How the base is chosen: robust, map, fixed, random.
        replan: Whether the arm's motion is planned again where the base has stopped.
        localisation: Largest error of the known base pose [m, deg].
        corrections: Most correction drives after the first stop [-].
        force: Grip force at each finger [N]; the report says where it is above a joint's limit.
        friction: Friction coefficient of everything but tyres [-].
        tyres: Friction coefficient between tyres and ground [-]; 0 for the engine's usual one.
        calibrate: Whether the point about which the robot turns is found by a turn beforehand.
        timestep: Physics time step [s].
        seed: Seed of scenes and errors.
    """

    robot: str = "scout-panda"
    engine: tuple[str, ...] = ()
    scenes: Scenes = 5
    scene: tuple[str, ...] = ()
    objects: Annotated[int, Range(1, 20, unit="-")] = 1
    tables: Annotated[int, Range(1, 5, unit="-")] = 1
    placement: tuple[Placement, ...] = (Placement.ROBUST,)
    replan: Replan = Replan.YES
    localisation: Localisation = (0.03, 3.0)
    corrections: Annotated[int, Range(0, 5, unit="-")] = 2
    force: Force = 40.0
    friction: Friction = 0.8
    tyres: Friction = 0.0
    calibrate: bool = True
    timestep: Timestep = 0.002
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One scene in one engine; other values are those of the config.

    Attributes:
        scene: Number of the scene, or its file.
        layout: Tables, objects, obstacles and start.
        replan: Whether the arm's motion is planned again at the stop.
        number: Number of the scene among those of the config, for its random errors.
        reading: How the robot is read and its roles are found.
        sha256: Hash of the robot's files, base and roles.
    """

    engine: str
    scene: str
    layout: TableScene
    placement: Placement
    replan: bool
    number: Annotated[int, Range(0, 10_000, unit="-")]
    localisation: Localisation
    corrections: Annotated[int, Range(0, 5, unit="-")]
    force: Force
    friction: Friction
    tyres: Friction
    calibrate: bool
    timestep: Timestep
    seed: Seed
    robot: str
    reading: RoleOptions = field(default_factory=RoleOptions)
    sha256: str = ""


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each scene, engine, placement and kind of planning.

    Raises:
        KinetariumError: If the robot lacks a role, an engine is not available, or a scene or a
            value is invalid.
    """
    from pathlib import Path

    from kinetarium.batch.study import case_of, refuse_empty
    from kinetarium.engines.registry import check_timesteps, chosen_engines
    from kinetarium.ranges import check_ranges
    from kinetarium.scene.table_scenes import random_table_scene, read_table_scene
    from kinetarium.studies.pick.robot import open_picker

    check_ranges(config)
    refuse_empty(config, "placement")
    check_timesteps([config.timestep], period=0.002)
    engines = chosen_engines(config.engine)
    robot = config.open(config.robot)
    picker = open_picker(config.robot, config.reading, robot.sha256)
    if config.scene:
        files = [Path(name) for name in dict.fromkeys(config.scene)]
        stems = [file.stem for file in files]
        layouts = [
            # Files of one name in two folders are named by their paths.
            (stem if stems.count(stem) == 1 else str(file), read_table_scene(file))
            for stem, file in zip(stems, files, strict=True)
        ]
    else:
        layouts = [
            (
                str(i),
                random_table_scene(
                    seed=config.seed, scene=i, objects=config.objects, tables=config.tables
                ),
            )
            for i in range(config.scenes)
        ]
    for _, layout in layouts:
        for held in layout.objects:
            picker.widths(held)  # refuses what the gripper cannot hold
    both = {Replan.BOTH: (True, False), Replan.YES: (True,), Replan.NO: (False,)}[config.replan]
    return tuple(
        case_of(
            config,
            Case,
            engine=engine,
            scene=name,
            layout=layout,
            placement=placement,
            replan=replan,
            number=number,
            sha256=robot.sha256,
        )
        for engine in engines
        for placement in dict.fromkeys(config.placement)
        for replan in both
        for number, (name, layout) in enumerate(layouts)
    )
