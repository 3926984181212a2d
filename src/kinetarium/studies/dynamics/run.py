"""One run: a robot examined in a backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from kinetarium.errors import UnknownNameError
from kinetarium.model.load import load_robot, robot_file
from kinetarium.model.robot import RobotModel
from kinetarium.recording.recording import Recording, Row
from kinetarium.studies.dynamics._examination import examine
from kinetarium.studies.dynamics.backends.reference import CLOSED_FORM
from kinetarium.studies.dynamics.backends.registry import AGAINST, REFERENCE, backend_names
from kinetarium.studies.dynamics.cases import read_robot, second_reading
from kinetarium.studies.dynamics.config import Case
from kinetarium.studies.dynamics.finding import Finding, Severity
from kinetarium.studies.dynamics.loaders import examine_loader
from kinetarium.studies.dynamics.override import Override
from kinetarium.studies.dynamics.score import error_rows


def run(case: Case) -> Recording:
    """Examine the robot.

    Raises:
        KinetariumError: If a file has changed since the case was created.
    """
    model, _ = read_robot(
        case.robot, reading=case.reading, loaders=case.loaders, sha256=case.sha256
    )
    if case.loaders:
        with robot_file(case.robot) as file:
            return examine_loader(model, case.backend, file=file, roots=case.reading.mesh_root)
    against = None
    if case.backend == AGAINST:
        against, _ = read_robot(
            case.against, reading=second_reading(case.reading), sha256=case.against_sha256
        )
    return examine(
        model,
        case.backend,
        states=case.states,
        seed=case.seed,
        at=case.at,
        at_velocity=case.at_velocity,
        against=against,
    )


Robot = str | PathLike[str] | RobotModel
"""A robot, its name in the catalogue, or its file."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of comparing a robot's dynamics.

    Attributes:
        rows: One for each backend and quantity: "robot", "backend", "quantity",
            "max_abs", "max_rel", "tolerance", "passed".
        findings: Every difference, with its cause and location.
        terms: M, g and c of each backend at the requested state.
    """

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    terms: Mapping[str, Any]

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that change the robot."""
        return tuple(each for each in self.findings if each.severity is Severity.FAULT)

    @property
    def passed(self) -> bool:
        """Whether every quantity is within its tolerance and there are no faults."""
        return not self.faults and all(row["passed"] for row in self.rows)


def verify_dynamics(
    robot: Robot,
    *,
    against: Robot | None = None,
    backend_overrides: Mapping[str, Override | Mapping[str, Any]] | None = None,
    engine: Sequence[str] = (),
    states: int = 1000,
    seed: int = 0,
    at: Sequence[float] = (),
    at_velocity: Sequence[float] = (),
) -> Verification:
    """Compare a robot's dynamics in every library, or those of two robot files.

    Example:
        >>> from kinetarium import verify_dynamics
        >>> verify_dynamics("two-link", engine=["mujoco"], states=10).passed
        True

    Args:
        against: A second robot to compare with, instead of other libraries.
        backend_overrides: Faults to inject, by backend, each an `Override` or its attributes.
        engine: Engines to compare; all available ones with inverse dynamics by default.
        states: Number of random states at which to compare.
        seed: Seed of the random states.
        at: Joint positions of a state at which to return the terms [rad or m].
        at_velocity: Joint velocities of that state [rad/s or m/s]; zero by default.

    Raises:
        KinetariumError: If a robot is refused, or an engine is not available.
    """
    model = _loaded(robot)
    other = None if against is None else _loaded(against)
    names = (REFERENCE, AGAINST) if other else backend_names(model, engines=engine)
    overrides = {name: Override.of(each) for name, each in (backend_overrides or {}).items()}
    for name in overrides:
        if name not in names or name in (CLOSED_FORM, AGAINST):
            known = [each for each in names if each not in (CLOSED_FORM, AGAINST)]
            raise UnknownNameError("backend", name, known=known)
    rows: list[Row] = []
    findings: list[Finding] = []
    terms = {}
    for name in names:
        recording = examine(
            model,
            name,
            states=states,
            seed=seed,
            at=at,
            at_velocity=at_velocity,
            override=overrides.get(name),
            against=other if name == AGAINST else None,
        )
        rows += [{"robot": model.name, "backend": name, **row} for row in error_rows(recording)]
        findings += [Finding.of_data(data) for data in recording.facts["findings"]]
        if recording.facts["terms"]:
            terms[name] = recording.facts["terms"]
    return Verification(tuple(rows), tuple(findings), terms)


def _loaded(robot: Robot) -> RobotModel:
    return robot if isinstance(robot, RobotModel) else load_robot(robot)
