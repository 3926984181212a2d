"""One case: a robot examined in a back-end."""

from kinetarium.errors import KinetariumError
from kinetarium.model.load import load_robot
from kinetarium.model.robot import RobotModel
from kinetarium.recording.recording import Recording
from kinetarium.studies.dynamics.backends.registry import AGAINST
from kinetarium.studies.dynamics.config import Case
from kinetarium.studies.dynamics.examination import examine


def run(case: Case) -> Recording:
    """Examine the robot.

    Raises:
        KinetariumError: If a file is not what it was when the case was made.
    """
    against = None
    if case.backend == AGAINST:
        against = _load(case, case.against, sha256=case.against_sha256)
    return examine(
        _load(case, case.robot, sha256=case.sha256),
        case.backend,
        states=case.states,
        seed=case.seed,
        at=case.at,
        at_velocity=case.at_velocity,
        against=against,
    )


def _load(case: Case, robot: str, *, sha256: str) -> RobotModel:
    model = load_robot(robot, mesh_roots=case.mesh_root, allow=case.allow)
    if model.source.sha256 != sha256:
        raise KinetariumError(f"'{robot}' has changed since the case was made")
    return model
