"""The dynamics study: its cases, its backends, and what it says of engines that mislead."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetarium import KinetariumError, RobotModel, load_robot
from kinetarium.batch.check_study import check_study
from kinetarium.batch.study import Outcome
from kinetarium.engines.protocol import Audit, Capability, EngineInfo, Simulation
from kinetarium.engines.registry import open_engine
from kinetarium.model.diagnostics import Allowance
from kinetarium.model.robot import JointType
from kinetarium.model.urdf import write_urdf
from kinetarium.recording.recording import Recording, RunStatus
from kinetarium.roles.options import RoleOptions
from kinetarium.roles.roles import BaseKind
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.spatial.rotation import pose
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studies.dynamics import Dynamics
from kinetarium.studies.dynamics._examination import examine
from kinetarium.studies.dynamics.backends import registry
from kinetarium.studies.dynamics.backends.backend import Backend, InOrder
from kinetarium.studies.dynamics.backends.registry import backend_names, open_backend
from kinetarium.studies.dynamics.config import Case, Config
from kinetarium.studies.dynamics.differences.audit import audit_differences
from kinetarium.studies.dynamics.finding import Cause, Finding, Severity
from kinetarium.studies.dynamics.override import Override
from kinetarium.studies.dynamics.run import verify_dynamics
from kinetarium.studies.dynamics.score import error_rows
from kinetarium.studies.dynamics.states import States, Terms, draw_states

TWO_LINK = load_robot("two-link")
HELD = RoleOptions(base=BaseKind.FIXED).open("two-link")


def faults(recording: Recording) -> list[Finding]:
    found = [Finding.of_data(data) for data in recording.facts["findings"]]
    return [each for each in found if each.severity is Severity.FAULT]


def test_is_a_study() -> None:
    checks = check_study(Dynamics(), Config(engine=("mujoco",), states=20))
    assert {check.check: check.reason for check in checks if not check.passed} == {}


def test_cases() -> None:
    study = Dynamics()
    cases = study.cases(Config(engine=("mujoco",)))
    assert [case.backend for case in cases] == ["pinocchio", "closed-form", "mujoco"]
    assert {case.sha256 for case in cases} == {HELD.sha256}
    assert [case.backend for case in study.cases(Config(robot="ur5", engine=("mujoco",)))] == [
        "pinocchio",
        "mujoco",
    ]
    against = study.cases(Config(robot="ur5", against="two-link"))
    assert [(case.backend, case.against_sha256) for case in against] == [
        ("pinocchio", HELD.sha256),
        ("against", HELD.sha256),
    ]


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (Config(robot="nosuch"), "unknown robot"),
        (Config(against="nosuch"), "unknown robot"),
        (Config(engine=("nosuch",)), "unknown engine"),
        (Config(states=0), "states: 0 is outside"),
        (Config(at=(0.0,)), "--at needs 2 numbers, for shoulder, elbow; not 1"),
        (Config(at=(0.0, float("nan"))), "at: nan is outside"),
        (Config(at_velocity=(0.0, 1.0)), "--at-velocity requires --at"),
        (Config(at=(0.0, 0.0), at_velocity=(1.0,)), "--at-velocity needs 2"),
        (Config(against="ur5", engine=("mujoco",)), "--against"),
    ],
)
def test_refusals(config: Config, reason: str) -> None:
    with pytest.raises(KinetariumError, match=reason):
        Dynamics().cases(config)


def test_flags_of_roles_reach_the_robot(tmp_path: Path) -> None:
    scaled = tmp_path / "arm.xacro"
    scaled.write_text(
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="m"'
        ' default="1"/><link name="a"/><link name="b"><inertial><mass value="$(arg m)"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    study = Dynamics()
    config = Config(
        robot=str(scaled), xacro_arg=("m:=3",), base=BaseKind.PLANAR, engine=("mujoco",), states=5
    )
    case = study.cases(config)[-1]
    recording = study.run(case)
    # A planar base slides with the whole robot: 3 kg, and the least masses of its slides.
    assert recording.facts["joints"] == ["base/x", "base/y", "base/yaw", "j"]
    assert all(row["passed"] for row in study.score(case, recording))
    plain = study.cases(replace(config, base=None))[-1]
    assert study.run(plain).facts["joints"] == ["j"]
    with pytest.raises(KinetariumError, match="--loaders compares a file as it is"):
        study.cases(replace(config, loaders=True))


def test_a_case_of_an_earlier_release_is_read() -> None:
    case = Dynamics().cases(Config(engine=("mujoco",), states=5))[-1]
    data = to_builtins(case)
    data |= {"mesh_root": ["meshes"], "allow": ["missing-mesh"], "root": "torso"}
    del data["reading"]
    assert from_builtins(Case, data, where="case").allow == (Allowance.MISSING_MESH,)
    allowed = Config(allow=(Allowance.MISSING_MESH, Allowance.COMMA)).reading
    assert allowed == RoleOptions(allow_missing_mesh=True, lenient=("comma",))


def test_the_conclusion_counts_backends_that_differ() -> None:
    study = Dynamics()
    for config, said in (
        (Config(engine=("mujoco",), states=5), "is the same as in Pinocchio in closed-form and"),
        (
            Config(robot="ur5", against="two-link", states=5),
            "What differs is two-link: another",
        ),
    ):
        outcomes = [_outcome(study, case) for case in study.cases(config)]
        assert said in study.report(outcomes).conclusion


def test_more_matrices_than_memory_holds_are_refused(tmp_path: Path) -> None:
    solid = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    links = "".join(f'<link name="l{i}"><inertial>{solid}</inertial></link>' for i in range(21))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
        "</joint>"
        for i in range(20)
    )
    snake = tmp_path / "snake.urdf"
    snake.write_text(f'<robot name="snake">{links}{joints}</robot>')
    with pytest.raises(KinetariumError, match=r"--states 60000 .* 20 joints; use at most 50000"):
        Dynamics().cases(Config(robot=str(snake), states=60_000))
    assert Dynamics().cases(Config(robot=str(snake), states=50_000, engine=("mujoco",)))


def test_an_engine_without_inverse_dynamics_is_refused() -> None:
    lacking = [name for name in ("ode", "physx") if _has(name, None)]
    for name in lacking:
        with pytest.raises(KinetariumError, match="inverse-dynamics"):
            backend_names(TWO_LINK, engines=(name,))


def _has(name: str, capability: Capability | None) -> bool:
    try:
        return capability is None or capability in open_engine(name).info.capabilities
    except KinetariumError:
        return False


def test_a_file_that_changed_is_refused() -> None:
    case = Dynamics().cases(Config(engine=("mujoco",)))[0]
    with pytest.raises(KinetariumError, match="changed"):
        Dynamics().run(replace(case, sha256="0" * 64))


def test_a_file_is_compared_with_another(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "a.urdf", tmp_path / "b.urdf"
    ours.write_text(write_urdf(TWO_LINK, mesh_folder="meshes")[0])
    text = ours.read_text()
    assert 'value="2.275"' in text
    theirs.write_text(text.replace('value="2.275"', 'value="2.5"'))
    config = Config(robot=str(ours), against=str(theirs), states=20)
    found = verify_dynamics(ours, against=theirs, states=20)
    assert [(x.backend, x.cause, x.where) for x in found.faults] == [
        ("against", Cause.MASS, "forearm")
    ]
    assert found.faults[0].size == pytest.approx(0.225)
    assert not found.passed
    study = Dynamics()
    cases = study.cases(config)
    outcomes = [_outcome(study, case) for case in cases]
    report = study.report(outcomes)
    (fault,) = [x for x in report.extra["findings"] if x["severity"] == "fault"]
    assert set(fault) >= {"backend", "severity", "cause", "where", "size", "message"}
    assert verify_dynamics(ours, against=ours, states=20).passed


def _outcome(study: Dynamics, case: Case) -> Outcome[Case]:
    recording = study.run(case)
    rows = tuple(study.score(case, recording))
    return Outcome(case, RunStatus.COMPLETED, "", rows, recording, {})


def test_an_altered_arm_has_no_closed_form() -> None:
    altered = Override(armature={"elbow": 0.1}).applied(TWO_LINK)
    assert "closed-form" not in backend_names(altered, engines=("mujoco",))
    assert verify_dynamics(altered, engine=["mujoco"], states=20).passed


def test_joints_that_only_one_has_are_held() -> None:
    fixed = replace(
        TWO_LINK,
        joints=tuple(
            replace(x, type=JointType.FIXED) if x.name == "elbow" else x for x in TWO_LINK.joints
        ),
    )
    found = verify_dynamics(TWO_LINK, against=fixed, states=20)
    assert [(x.cause, x.where) for x in found.faults] == [(Cause.STRUCTURE, "elbow")]
    assert all(row["passed"] for row in found.rows)
    stuck = replace(fixed, joints=tuple(replace(x, type=JointType.FIXED) for x in fixed.joints))
    with pytest.raises(KinetariumError, match="no moving joint"):
        verify_dynamics(TWO_LINK, against=stuck, states=20)


def test_rows_and_terms() -> None:
    found = verify_dynamics(
        "two-link", engine=["mujoco"], states=20, at=(0.0, 0.0665), at_velocity=(1.0, 2.0)
    )
    assert found.passed
    assert set(found.terms) == {"pinocchio", "closed-form", "mujoco"}
    assert set(found.terms["mujoco"]) == {"M", "g", "c"}
    expected = {"robot", "backend", "quantity", "max_abs", "max_rel", "tolerance", "passed"}
    assert all(set(row) == expected for row in found.rows)
    quantities = {row["quantity"] for row in found.rows if row["backend"] == "mujoco"}
    assert quantities == {
        "M", "g", "c", "tau", "symmetry", "positive_definite", "skew", "roundtrip", "derivative",
        "energy", "free_motion",
    }  # fmt: skip


def test_overrides_are_checked() -> None:
    with pytest.raises(KinetariumError, match="unknown backend 'nosuch'"):
        verify_dynamics("two-link", backend_overrides={"nosuch": Override()})
    with pytest.raises(KinetariumError, match="unknown backend 'closed-form'"):
        verify_dynamics("two-link", backend_overrides={"closed-form": Override()})
    for content, words in (
        ({"masses": {}}, "unknown override 'masses'"),
        ({"armature": 5}, "'armature' must map names"),
        ({"gravity": [0, 0]}, "three numbers"),
        ({"gravity": "up"}, "three numbers"),
    ):
        with pytest.raises(KinetariumError, match=words):
            verify_dynamics("two-link", backend_overrides={"mujoco": content})
    for wrong in (
        Override(armature={"nosuch": 1.0}),
        Override(damping={"tool_joint": 1.0}),
        Override(inertials={"nosuch": None}),
    ):
        with pytest.raises(KinetariumError):
            wrong.applied(TWO_LINK)


@pytest.mark.parametrize(
    "override", [Override(gravity=frozen([0, 0, -1.62])), {"gravity": [0, 0, -1.62]}]
)
def test_the_reference_itself_can_be_altered(override: Any) -> None:
    found = verify_dynamics(
        "two-link", engine=["mujoco"], states=20, backend_overrides={"pinocchio": override}
    )
    assert [(x.backend, x.cause) for x in found.faults] == [("pinocchio", Cause.GRAVITY)]
    failed = {row["quantity"] for row in found.rows if not row["passed"]}
    assert "g" in failed
    assert "M" not in failed


def test_a_robot_that_an_engine_does_not_take() -> None:
    recording = examine(
        TWO_LINK, "mujoco", states=20, seed=0, override=Override(inertials={"forearm": None})
    )
    assert [(x.cause, x.where) for x in faults(recording)] == [
        (Cause.DROPPED_INERTIAL, "forearm"),
        (Cause.REFUSED, ""),
    ]
    assert error_rows(recording) == ()


def test_joints_in_another_order_are_compared_by_name() -> None:
    backend = open_backend("pinocchio", TWO_LINK, gravity=GRAVITY_VECTOR, reference=TWO_LINK)
    turned = InOrder(backend, ("elbow", "shoulder"))
    states = draw_states(TWO_LINK, count=5, seed=0)
    swapped = replace(states, q=states.q[:, ::-1], v=states.v[:, ::-1], a=states.a[:, ::-1])
    there, here = turned.terms(swapped), backend.terms(states)
    np.testing.assert_array_equal(there.M, here.M[:, ::-1, ::-1])
    np.testing.assert_array_equal(there.tau, here.tau[:, ::-1])
    again = turned.acceleration(swapped.q, swapped.v, there.tau)
    np.testing.assert_allclose(again, swapped.a, atol=1e-12)


BALANCED = """<robot name="balanced"><link name="base"/><link name="wheel"><inertial>
<mass value="0.001"/><inertia ixx="2e-8" iyy="2e-8" izz="2e-8" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="roll" type="continuous"><parent link="base"/><child link="wheel"/>
<origin xyz="0.3 0 0"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize(("error", "found"), [(3e-19, []), (1e-14, [Cause.UNEXPLAINED])])
def test_rounding_of_weights_that_cancel_is_no_difference(
    error: float, found: list[Cause], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "balanced.urdf"
    file.write_text(BALANCED)
    exact = registry.EngineBackend.terms

    def rounded(self: registry.EngineBackend, states: States) -> Terms:
        terms = exact(self, states)
        return replace(terms, g=terms.g + error * np.sign(states.q))

    monkeypatch.setattr(registry.EngineBackend, "terms", rounded)
    recording = examine(load_robot(file), "mujoco", states=20, seed=0)
    assert [each.cause for each in faults(recording)][:1] == found


@pytest.mark.parametrize(
    ("limits", "sampled"),
    [
        ((-1e9, 1e9), (-np.pi, np.pi)),
        ((30.0, 1e6), (30.0, 30.0 + np.pi)),
        ((-2 * np.pi, 2 * np.pi), (-2 * np.pi, 2 * np.pi)),
    ],
)
def test_limits_that_mean_none_are_not_sampled(
    limits: tuple[float, float], sampled: tuple[float, float]
) -> None:
    first, *others = TWO_LINK.moving_joints
    wide = replace(first, limits=replace(first.limits, lower=limits[0], upper=limits[1]))
    states = draw_states(replace(TWO_LINK, joints=(wide, *others)), count=500, seed=0)
    ends = [states.q[:, 0].min(), states.q[:, 0].max()]
    assert ends == pytest.approx(sampled, abs=0.02 * (sampled[1] - sampled[0]))


def test_the_gates_repairs_are_notes(tmp_path: Path) -> None:
    file = tmp_path / "odd.urdf"
    text = write_urdf(TWO_LINK, mesh_folder="meshes")[0]
    assert 'izz="0.049443313556"' in text
    file.write_text(text.replace('izz="0.049443313556"', 'izz="0.06"'))
    recording = examine(load_robot(file), "pinocchio", states=20, seed=0)
    notes = {data["cause"]: data["where"] for data in recording.facts["findings"]}
    assert notes["repair"] == "link forearm"
    assert faults(recording) == []


class _Engine:
    """MuJoCo with something about it changed."""

    def __init__(
        self,
        *,
        lacks: frozenset[Capability] = frozenset(),
        alter: Callable[[Scene], Scene] = lambda scene: scene,
        disguise: Callable[[Simulation, Scene], Any] = lambda simulation, scene: simulation,
    ) -> None:
        self._engine = open_engine("mujoco")
        self._lacks, self._alter, self._disguise = lacks, alter, disguise
        self.options = self._engine.options

    @property
    def info(self) -> EngineInfo:
        info = self._engine.info
        return replace(info, capabilities=info.capabilities - self._lacks)

    def compile(self, scene: Scene, **settings: Any) -> Any:
        simulation = self._engine.compile(self._alter(scene), **settings)
        return self._disguise(simulation, scene)


class _Disguised:
    """A simulation some of whose answers are replaced."""

    def __init__(self, simulation: Simulation, **answers: Any) -> None:
        self.__dict__.update(answers)
        self._simulation = simulation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulation, name)


def _altered(scene: Scene, override: Override) -> Scene:
    (robot,) = scene.robots
    return replace(scene, robots=(replace(robot, model=override.applied(robot.model)),))


def _honest_looking(simulation: Simulation, scene: Scene) -> Any:
    """Return an audit of the robot as it was asked for, not as it is."""

    def audit() -> Audit:
        honest = open_engine("mujoco").compile(scene, timestep=1e-3)
        return honest.audit()

    return _Disguised(simulation, audit=audit)


def _examined(monkeypatch: pytest.MonkeyPatch, engine: _Engine, model: RobotModel) -> Recording:
    monkeypatch.setattr(registry, "open_engine", lambda name: engine)
    return examine(model, "mujoco", states=30, seed=0)


@pytest.mark.parametrize("lacks", [Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS])
def test_engines_with_half_of_it_take_part(
    monkeypatch: pytest.MonkeyPatch, lacks: Capability
) -> None:
    engine = _Engine(lacks=frozenset({lacks}))
    monkeypatch.setattr(registry, "open_engine", lambda name: engine)
    backend: Backend = open_backend("mujoco", TWO_LINK, gravity=GRAVITY_VECTOR, reference=TWO_LINK)
    reference = open_backend("pinocchio", TWO_LINK, gravity=GRAVITY_VECTOR, reference=TWO_LINK)
    states = draw_states(TWO_LINK, count=10, seed=0)
    there, here = backend.terms(states), reference.terms(states)
    # What is taken from one step of the motion loses the digits of its length.
    near = 1e-12 if lacks is Capability.MASS_MATRIX else 1e-9
    for name in ("M", "g", "c", "tau"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), atol=near)
    backend.close()


def test_an_audit_that_hides_a_fault_does_not_hide_it(monkeypatch: pytest.MonkeyPatch) -> None:
    inertia = TWO_LINK.link("forearm").inertia
    assert inertia is not None
    heavy = Override(inertials={"forearm": replace(inertia, mass=3.0)})
    engine = _Engine(alter=lambda scene: _altered(scene, heavy), disguise=_honest_looking)
    (found,) = faults(_examined(monkeypatch, engine, TWO_LINK))
    assert (found.cause, found.where) == (Cause.MASS, "forearm")


def test_damping_that_only_the_motion_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    damped = Override(damping={"elbow": 0.2})
    engine = _Engine(alter=lambda scene: _altered(scene, damped), disguise=_honest_looking)
    recording = _examined(monkeypatch, engine, TWO_LINK)
    (found,) = faults(recording)
    assert (found.cause, found.where) == (Cause.DAMPING, "elbow")
    assert found.size == pytest.approx(0.2, rel=0.05)
    failed = {row["quantity"] for row in error_rows(recording) if not row["passed"]}
    assert failed == {"roundtrip", "energy", "free_motion"}


def test_an_audit_that_invents_a_fault_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    inertia = TWO_LINK.link("forearm").inertia
    assert inertia is not None
    heavy = Override(inertials={"forearm": replace(inertia, mass=3.0)})
    engine = _Engine(disguise=lambda sim, scene: _honest_looking(sim, _altered(scene, heavy)))
    found = faults(_examined(monkeypatch, engine, TWO_LINK))
    assert [each.cause for each in found] == [Cause.MASS, Cause.INCONSISTENT]


def test_an_audit_tells_of_frames_and_couplings() -> None:
    given = load_robot("panda")
    finger, elbow = given.joint("panda_finger_joint2"), given.joint("panda_joint4")
    assert finger.mimic
    wrong = {
        finger.name: replace(finger, mimic=replace(finger.mimic, multiplier=0.9)),
        elbow.name: replace(elbow, X_PJ=frozen(pose((0.01, 0.0, 0.0)) @ elbow.X_PJ)),
    }
    loaded = replace(given, joints=tuple(wrong.get(joint.name, joint) for joint in given.joints))
    backend = open_backend("mujoco", loaded, gravity=GRAVITY_VECTOR, reference=given)
    audited = audit_differences(given, backend.audit(), gravity=GRAVITY_VECTOR, tolerance=1e-9)
    backend.close()
    found = [(d.cause, d.where) for d in audited.differences if d.severity is Severity.FAULT]
    assert found == [(Cause.JOINT_ORIGIN, elbow.name), (Cause.COUPLING, finger.name)]
    there = audited.model.joint(elbow.name).X_PJ
    np.testing.assert_allclose(there, wrong[elbow.name].X_PJ, atol=1e-12)


def test_terms_that_are_no_numbers_are_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(simulation: Simulation, scene: Scene) -> Any:
        nothing = np.full(2, np.nan)
        return _Disguised(simulation, inverse_dynamics=lambda robot, a: nothing)

    recording = _examined(monkeypatch, _Engine(disguise=broken), TWO_LINK)
    assert "terms are not finite" in faults(recording)[0].message
    assert not all(row["passed"] for row in error_rows(recording))


def test_a_report_names_the_outcome_of_every_back_end() -> None:
    study = Dynamics()
    cases = study.cases(Config(engine=("mujoco",), states=20, at=(0.0, 0.0665)))
    outcomes = [_outcome(study, case) for case in cases[:2]]
    outcomes.append(Outcome(cases[2], RunStatus.CRASHED, "no word", (), None, {}))
    report = study.report(outcomes)
    verdicts = [row[-1] for row in report.headline.rows]
    assert verdicts == ["the reference", "the same robot", "crashed: no word"]
    assert set(report.extra["terms"]) == {"pinocchio", "closed-form"}
    assert report.summary["completed"] == 2
    assert [section.title for section in report.sections] == [
        "Findings", "Errors", "The mass matrix", "The free motion", "The two-link arm, derived",
    ]  # fmt: skip


def test_springs_of_joints_are_no_difference(tmp_path: Path) -> None:
    file = tmp_path / "spring.xml"
    file.write_text(
        '<mujoco model="spring"><worldbody><body name="rod">'
        '<joint name="hinge" axis="0 1 0" stiffness="500" springref="20"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02" mass="0.3"/>'
        "</body></worldbody></mujoco>"
    )
    assert verify_dynamics(file, engine=["mujoco"], states=3).faults == ()
