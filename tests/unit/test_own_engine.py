"""The engine of docs/add-an-engine.md passes every check it declares, and is refused the rest."""

import importlib
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinetarium import Scene, check_engine, load_robot, run
from kinetarium.engines import CapabilityError, EngineBase, Status
from kinetarium.engines.conformance import CHECKS
from kinetarium.model import Box
from kinetarium.scene import Base, Material, PlacedRobot, free_body, ground

PAGE = Path(__file__).parents[2] / "docs" / "add-an-engine.md"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code.count("\n") < 120
    (tmp_path / "flight.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    # Two fresh processes of the check of determinism import it, too.
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    yield importlib.import_module("flight").EngineFlight()
    del sys.modules["flight"]


def test_it_passes_every_check_it_declares(engine) -> None:
    outcomes = check_engine(engine)
    assert [outcome for outcome in outcomes if not outcome.passed] == []
    assert {outcome.check for outcome in outcomes} == {
        "free-fall", "no-damping", "spin-momentum", "tumble-energy", "external-wrench",
        "external-wrench-ends", "quaternion-order", "save-restore", "determinism", "divergence",
        "bad-scene", "fall-steps", "far-away", "twist-origin", "clock", "foreign-state",
        "reset-forgets", "steps-at-once", "divergence-limit", "unknown-names", "not-finite",
    }  # fmt: skip
    assert len(CHECKS) > len(outcomes)


def test_it_runs_like_ours(engine) -> None:
    body = free_body("cube", Box((0.1, 0.2, 0.3)), mass=2.0, twist=(1.0, 0, 0, 0, 0, 3.0))
    recording = run(Scene(bodies=(body,)), engine=engine, duration=0.5)
    assert recording.status == "running"
    assert recording["poses"][-1, 0, 0] == pytest.approx(0.5)
    assert recording.facts["engine"] == "flight" and recording.facts["options"] == {}


def test_a_body_off_its_centre_of_mass_flies_its_parabola(engine) -> None:
    body = free_body("cube", Box((0.1, 0.2, 0.3)), mass=2.0, twist=(0, 0, 0, 0, 0, 3.0))
    body = replace(body, inertia=replace(body.inertia, center=np.array([0.3, 0.0, 0.0])))
    simulation = engine.compile(Scene(bodies=(body,)), timestep=1e-3)
    start = simulation.state()
    np.testing.assert_allclose(start.twists[0], [0, 0, 0, 0, 0, 3.0], atol=1e-12)
    simulation.step(np.zeros(0), 100)
    turned = 0.3 * np.array([np.cos(0.3), np.sin(0.3), 0.0])
    center = simulation.state().poses[0, :3] + turned
    fallen = 9.81 * 1e-6 * 100 * 101 / 2
    np.testing.assert_allclose(center, [0.3, 0.09, -fallen], atol=1e-9)


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        (lambda: Scene((PlacedRobot("arm", load_robot("panda")),)), "joints, which joint 'arm/"),
        (lambda: Scene((PlacedRobot("arm", load_robot("panda"), Base.FREE),)),
         "free-base, which the free base of robot 'arm' needs"),
        (lambda: Scene(bodies=(free_body("cube", Box((1, 1, 1)), mass=1.0), ground())),
         "contact, which contact of 'cube' with 'ground' needs"),
        (lambda: Scene(bodies=(free_body("cube", Box((1, 1, 1)), mass=1.0,
                                         material=Material(0.5, 0.5)),)),
         "restitution, which the material of 'cube' needs"),
    ],
    ids=["joints", "free base", "contact", "restitution"],
)  # fmt: skip
def test_a_scene_that_needs_more_is_refused_in_one_line(engine, scene, said) -> None:
    with pytest.raises(CapabilityError) as refusal:
        engine.compile(scene(), timestep=1e-3)
    assert str(refusal.value).startswith(f"engine 'flight' has no {said}")


def test_what_it_cannot_measure_is_refused(engine) -> None:
    simulation = engine.compile(Scene(), timestep=1e-3)
    with pytest.raises(CapabilityError, match="engine 'flight' has no contact-forces"):
        simulation.contacts()
    with pytest.raises(CapabilityError, match="engine 'flight' has no mass-matrix"):
        simulation.mass_matrix("arm")


def flying(engine, advance):
    """Start a cube at 10 m/s whose steps are made one by one by a function of their number."""
    cube = free_body("cube", Box((0.1, 0.1, 0.1)), mass=1.0, twist=(10.0, 0, 0, 0, 0, 0))
    simulation = engine.compile(Scene(bodies=(cube,)), timestep=1e-3)
    usual = simulation._advance

    def watched(command, n, wrenches):
        for i in range(n):
            usual(command, 1, wrenches)
            if not advance(simulation, simulation._steps + i + 1):
                return i + 1
        return n

    simulation._advance = watched
    return simulation


def test_an_engine_that_gives_up_ends_the_run_at_that_step(engine) -> None:
    def gives_up(simulation, step):
        if step == 7:
            simulation._diverge()
        return step != 7

    simulation = flying(engine, gives_up)
    simulation.step(np.zeros(0), 100)
    assert simulation.status is Status.DIVERGED
    assert simulation.state().time == pytest.approx(7e-3)
    assert simulation.state().poses[0, 0] == pytest.approx(0.07)


def test_odd_numbers_are_judged_before_they_are_hidden(engine) -> None:
    def jumps(simulation, step):
        simulation._v[0, 0] = 1e7 if step == 7 else 10.0
        if step == 7:
            simulation._suspect()
        return step != 7

    simulation = flying(engine, jumps)
    simulation.step(np.zeros(0), 100)
    assert simulation.status is Status.DIVERGED
    assert simulation.state().time == pytest.approx(7e-3)


def test_a_false_suspicion_costs_nothing(engine) -> None:
    def worries(simulation, step):
        if step % 3 == 0:
            simulation._suspect()
        return step % 3 != 0

    simulation = flying(engine, worries)
    simulation.step(np.zeros(0), 100)
    assert simulation.status is Status.RUNNING
    assert simulation.state().time == pytest.approx(0.1)
    assert simulation.state().poses[0, 0] == pytest.approx(1.0)


def test_a_run_is_judged_at_least_every_32_steps(engine) -> None:
    def leaves(simulation, step):
        simulation._v[0, 0] = 1e7 if step >= 7 else 10.0
        return True

    simulation = flying(engine, leaves)
    simulation.step(np.zeros(0), 1000)
    assert simulation.state().time == pytest.approx(0.032)
    assert simulation.status is Status.DIVERGED


class Plain:
    """An engine without the base: the protocol's methods and nothing else."""

    def __init__(self, inner) -> None:
        self._inner, self.options, self.info = inner, inner.options, inner.info

    def compile(self, scene, *, timestep, options=None, seed=0):
        return PlainSimulation(self._inner.compile(scene, timestep=timestep, options=options))


class PlainSimulation:
    def __init__(self, inner) -> None:
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)


def test_an_engine_without_the_base_works_as_well(engine) -> None:
    plain = Plain(engine)
    assert not isinstance(plain, EngineBase)
    assert all(outcome.passed for outcome in check_engine(plain, checks=CHECKS[:4]))
    body = free_body("cube", Box((0.1, 0.2, 0.3)), mass=2.0)
    assert run(Scene(bodies=(body,)), engine=plain, duration=0.1).status == "running"
