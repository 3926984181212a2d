"""From a config to its cases: a walk for each choice."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TypeVar

from kinetarium.batch.study import ConfigError
from kinetarium.engines.capability import Capability, CapabilityError
from kinetarium.engines.registry import open_engine
from kinetarium.legs import TABLE_1, Machine, load_machine
from kinetarium.studies.walk.config import NO_ENGINE, Case, Config
from kinetarium.studies.walk.paths import find_path, terrain_of
from kinetarium.studies.walk.request import walk_plan

T = TypeVar("T")

_ORDERS = ("auto", *map(str, TABLE_1))


def cases(config: Config) -> tuple[Case, ...]:
    """Give a case for each engine, path, ground, timing, order, stride, sway and type.

    Raises:
        KinetariumError: If a value makes no sense, or an engine cannot close loops.
    """
    _check(config)
    machine = load_machine(Path(config.machine)) if config.machine else Machine()
    if config.foot_offset:
        machine = replace(machine, foot_offset=config.foot_offset)
    chosen = []
    for engine, path, ground, timing, order, stride, sway, kind in product(
        _once(config.engine) or (NO_ENGINE,),
        _once(config.path),
        _once(config.ground),
        _once(config.timing),
        _once(config.order),
        _once(config.stride),
        _once(config.sway),
        _once(config.type),
    ):
        way = find_path(path, stride=stride, heading=config.heading)
        chosen.append(
            Case(
                engine=engine,
                type=kind,
                path=path,
                ground=ground,
                timing=timing,
                leg_order=order,
                stride=stride,
                sway=sway,
                lift=config.lift,
                waypoints=way.waypoints,
                curve=config.curve,
                heading=way.heading,
                spin_deg=config.spin_deg,
                machine=replace(machine, kind=kind),
                terrain=terrain_of(
                    ground, slope_deg=config.slope_deg, step_height=config.step_height
                ),
                step_time=config.step_time,
                frames=config.frames,
                unit_m=config.unit_m,
                mass=config.mass,
            )
        )
    for case in chosen:
        walk_plan(case)  # refuses what makes no sense before anything runs
    return tuple(chosen)


def _check(config: Config) -> None:
    for name in ("type", "path", "stride", "timing", "order", "sway", "ground"):
        if not getattr(config, name):
            raise ConfigError(f"--{name} needs at least one value")
    for order in config.order:
        if order not in _ORDERS:
            raise ConfigError(f"--order must be auto or a row from 1 to 8, not '{order}'")
    if any(not stride > 0 for stride in config.stride):
        raise ConfigError("--stride must be positive")
    if not 1e-4 <= config.unit_m <= 10:
        raise ConfigError(f"--unit-m must be from 0.0001 to 10 m, not {config.unit_m:g}")
    if not 0.1 <= config.mass <= 1e5:
        raise ConfigError(f"--mass must be from 0.1 to 100000 kg, not {config.mass:g}")
    for name in config.engine:
        if name != NO_ENGINE and Capability.CLOSED_LOOPS not in open_engine(name).info.capabilities:
            raise CapabilityError(name, Capability.CLOSED_LOOPS, reason="a pantograph")


def _once(values: Sequence[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))
