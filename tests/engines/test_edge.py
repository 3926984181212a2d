"""The edge that all engines share: names, shapes, numbers, pushes, saved states, divergence."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from engines.staging import CUBE, LIBRARIES, NOTHING, WEIGHTLESS, H, compiled, driven, joint_state
from kinetarium.engines.base.simulation import LIMIT, SimulationBase
from kinetarium.engines.conformance.models import chain, pendulum
from kinetarium.engines.protocol import (
    Capability,
    CapabilityError,
    NotFiniteError,
    SavedState,
    State,
    Status,
)
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.scene import PlacedRobot, WrenchSensor, free_body, ground
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_from_rpy

pytestmark = [pytest.mark.engine, pytest.mark.parametrize("start", LIBRARIES, indirect=True)]

COMMAND = np.array([0.5, -0.2, 0.1])
SENSOR = WrenchSensor("ft", "robot", "joint1")


def busy(start):
    """A driven chain with a sensor beside a cube on the ground."""
    cube = free_body("cube", CUBE, mass=1.0, position=(1.0, 0, 0.05))
    return start(driven(chain()), cube, ground(), sensors=(SENSOR,))


def alone(start, **twist):
    """A weightless cube."""
    return start(free_body("cube", CUBE, mass=1.0, **twist), gravity=WEIGHTLESS)


def bits(state: State) -> bytes:
    arrays = (np.array(state.time), state.q, state.v, state.poses, state.twists)
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def test_says_what_it_is_and_has_options(start) -> None:
    engine = start.args[0]
    info = engine.info
    assert (info.name, info.title) == (engine.name, engine.title)
    assert any(letter.isdigit() for letter in info.version)
    assert info.capabilities <= frozenset(Capability)
    for options in (engine.options(), engine.options.stock(), engine.options().with_iterations(3)):
        assert hash(options) == hash(replace(options))
        compiled(engine, ground(), options=options).close()


def test_the_library_is_loaded_with_the_first_scene_and_without_a_word(start) -> None:
    name = start.args[0].name
    code = (
        "import sys, numpy as np\n"
        f"import kinetarium.engines.{name} as package\n"
        "from kinetarium.scene import Scene, ground\n"
        f"engine = package.Engine{name.capitalize()}()\n"
        f"assert {LIBRARIES[name]!r} not in sys.modules\n"
        "engine.compile(Scene(bodies=(ground(),)), timestep=1e-3).step(np.zeros(0))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_odd_names_survive(start) -> None:
    odd, model = 'λ "x" <b>&::', pendulum()
    links = (model.links[0], replace(model.links[1], name=odd))
    joints = (replace(model.joints[0], name=odd, child=odd),)
    robot = PlacedRobot("WorldModelInstance", replace(model, links=links, joints=joints))
    sensor = WrenchSensor(odd, robot.name, odd)
    simulation = start(robot, free_body("world", CUBE, mass=1.0), sensors=(sensor,))
    simulation.step(NOTHING)
    assert simulation.audit().solids[0].name == f"{robot.name}/{odd}"
    assert simulation.wrench(odd)[2] == pytest.approx(-9.81, rel=1e-5)


@pytest.mark.parametrize("bodies", [(), (ground(),)], ids=["nothing", "ground"])
def test_an_empty_scene(start, bodies) -> None:
    simulation = start(*bodies)
    simulation.step(NOTHING, 3)
    simulation.restore(simulation.save())
    state = simulation.state()
    assert (state.q.shape, state.poses.shape, state.twists.shape) == ((0,), (0, 7), (0, 6))
    assert state.time == pytest.approx(3 * H) and simulation.status is Status.RUNNING


def test_simulations_do_not_disturb_each_other(start) -> None:
    alone_once = busy(start)
    for _ in range(100):
        alone_once.step(COMMAND)
    one, other = busy(start), start(free_body("cube", CUBE, mass=1.0), gravity=WEIGHTLESS)
    for i in range(100):
        one.step(COMMAND)
        if i == 50:
            other.close()
        elif i < 50:
            other.step(NOTHING)
            assert not other.state().twists.any()
    assert bits(one.state()) == bits(alone_once.state())


def test_unknown_names_are_answered_with_the_valid_ones(start) -> None:
    simulation = busy(start)
    with pytest.raises(UnknownNameError, match=r"unknown solid 'cub'; did you mean 'cube'"):
        simulation.apply_wrench("cub", np.zeros(6), np.zeros(3))
    with pytest.raises(UnknownNameError, match=r"unknown sensor 'tf'.*known: ft"):
        simulation.wrench("tf")
    lacks = UnknownNameError, r"unknown robot 'arm' \(known: robot\)"
    for capability, ask in (
        (Capability.MASS_MATRIX, lambda: simulation.mass_matrix("arm")),
        (Capability.INVERSE_DYNAMICS, lambda: simulation.inverse_dynamics("arm", np.zeros(3))),
    ):
        if capability not in simulation._capabilities:
            lacks = CapabilityError, f"engine '.*' has no {capability}"
        with pytest.raises(lacks[0], match=lacks[1]):
            ask()


@pytest.mark.parametrize("own", [True, False], ids=["own way", "hooks of the base"])
def test_many_states_are_evaluated_as_one_after_the_other(start, own, monkeypatch) -> None:
    """On a tilted base, with armature, and losses that are no part of the equation of motion."""
    model = chain()
    joints = [replace(joint, damping=0.3, friction=0.2, armature=0.1) for joint in model.joints]
    X_WB = frozen(pose((0.1, 0.2, 0.3), rotation_from_rpy((0.4, -0.7, 1.1))))
    simulation = start(driven(replace(model, joints=tuple(joints)), X_WB=X_WB), ground())
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 4, 3))
    if not simulation._capabilities >= {Capability.MASS_MATRIX, Capability.INVERSE_DYNAMICS}:
        with pytest.raises(CapabilityError):
            simulation.equation_of_motion("robot", q=q, v=v, a=a)
        return
    if not own:
        hook = SimulationBase._equation_of_motion
        monkeypatch.setattr(type(simulation), "_equation_of_motion", hook)
    M, g, bias, tau = simulation.equation_of_motion("robot", q=q, v=v, a=a)
    assert bits(simulation.state()) == bits(joint_state(q[-1], v[-1]))
    rest = np.zeros(3)
    for i in range(len(q)):
        simulation.reset(joint_state(q[i], rest))
        np.testing.assert_allclose(g[i], simulation.inverse_dynamics("robot", rest), 1e-13)
        simulation.reset(joint_state(q[i], v[i]))
        np.testing.assert_allclose(M[i], simulation.mass_matrix("robot"), 1e-13, 1e-13)
        np.testing.assert_allclose(bias[i], simulation.inverse_dynamics("robot", rest), 1e-13)
        np.testing.assert_allclose(tau[i], simulation.inverse_dynamics("robot", a[i]), 1e-13)
    with pytest.raises(NotFiniteError):
        simulation.equation_of_motion("robot", q=q, v=np.nan * v, a=a)
    with pytest.raises(KinetariumError, match="shape"):
        simulation.equation_of_motion("robot", q=q, v=v[:2], a=a)
    with pytest.raises(KinetariumError, match="beyond"):
        simulation.equation_of_motion("robot", q=LIMIT * q / np.linalg.norm(q[0]), v=v, a=a)
    with pytest.raises(KinetariumError, match="more than the joints"):
        busy(start).equation_of_motion("robot", q=q, v=v, a=a)


def test_wrong_shapes_are_refused_and_change_nothing(start) -> None:
    simulation = busy(start)
    simulation.step(COMMAND, 20)
    before = simulation.state()
    calls = {
        "command": [
            lambda: simulation.step(np.zeros(2)),
            lambda: simulation.step(np.zeros((3, 1))),
            lambda: simulation.step(0.0),
        ],
        "wrench": [
            lambda: simulation.apply_wrench("cube", np.zeros(3), np.zeros(3)),
            lambda: simulation.apply_wrench("cube", np.zeros(6), np.zeros(2)),
            lambda: simulation.apply_wrench("cube", ["a"] * 6, np.zeros(3)),
        ],
        "state": [
            lambda: simulation.reset(replace(before, q=np.zeros(2))),
            lambda: simulation.reset(replace(before, v=np.zeros((3, 1)))),
            lambda: simulation.reset(replace(before, poses=np.zeros((2, 7)))),
            lambda: simulation.reset(replace(before, twists=np.zeros(6))),
        ],
    }
    if Capability.INVERSE_DYNAMICS in simulation._capabilities:
        calls["acceleration"] = [lambda: simulation.inverse_dynamics("robot", np.zeros(9))]
    for what, spoils in calls.items():
        for spoil in spoils:
            with pytest.raises(KinetariumError, match=what):
                spoil()
    assert bits(simulation.state()) == bits(before)
    assert simulation.status is Status.RUNNING


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_and_change_nothing(start, bad) -> None:
    simulation, twin = busy(start), busy(start)
    for one in (simulation, twin):
        one.step(COMMAND, 20)
    before = simulation.state()
    spoiled = {
        "command": lambda: simulation.step(np.array([0.0, bad, 0.0]), 5),
        "wrench": lambda: simulation.apply_wrench("cube", np.full(6, bad), np.zeros(3)),
        "point": lambda: simulation.apply_wrench("cube", np.ones(6), np.array([bad, 0, 0])),
        "time": lambda: simulation.reset(replace(before, time=bad)),
        "positions": lambda: simulation.reset(replace(before, q=np.array([bad, 0, 0]))),
        "velocities": lambda: simulation.reset(replace(before, v=np.array([0, 0, bad]))),
        "poses": lambda: simulation.reset(replace(before, poses=np.full((1, 7), bad))),
        "twists": lambda: simulation.reset(replace(before, twists=np.full((1, 6), bad))),
    }
    if Capability.INVERSE_DYNAMICS in simulation._capabilities:
        spoiled["acceleration"] = lambda: simulation.inverse_dynamics("robot", np.full(3, bad))
    for what, spoil in spoiled.items():
        with pytest.raises(NotFiniteError, match=f"{what}.* must be finite"):
            spoil()
    for one in (simulation, twin):
        one.step(COMMAND, 20)
    assert bits(simulation.state()) == bits(twin.state())


def test_a_quaternion_is_scaled_and_zero_refused(start) -> None:
    simulation = alone(start)
    good = simulation.state()
    pose = np.array([[0.1, 0.2, 0.3, 3.0, 0.0, 4.0, 0.0]])
    simulation.reset(replace(good, poses=pose))
    read = simulation.state().poses
    np.testing.assert_allclose(read, [[0.1, 0.2, 0.3, 0.6, 0.0, 0.8, 0.0]], atol=1e-6)
    np.testing.assert_array_equal(pose[0, 3:], [3.0, 0.0, 4.0, 0.0])
    before = bits(simulation.state())
    with pytest.raises(KinetariumError, match="quaternion of 'cube' is zero"):
        simulation.reset(replace(good, poses=np.zeros((1, 7))))
    assert bits(simulation.state()) == before


@pytest.mark.parametrize("part", ["q", "v", "poses", "twists"])
def test_one_limit_of_divergence(start, part) -> None:
    simulation = busy(start)
    for share, status in ((0.99, Status.RUNNING), (1.01, Status.DIVERGED)):
        state = simulation.state()
        getattr(state, part).reshape(-1)[0] = share * LIMIT
        simulation.reset(state)
        assert simulation.status is status
        read = getattr(simulation.state(), part).reshape(-1)[0]
        assert read == pytest.approx(share * LIMIT, rel=1e-6)
        simulation.reset(busy(start).state())
        assert simulation.status is Status.RUNNING


def test_a_run_that_crosses_the_limit_is_marked_at_that_step(start) -> None:
    simulation = alone(start, twist=(0.9 * LIMIT, 0, 0, 0, 0, 0))
    push = np.array([0.06 * LIMIT / H, 0, 0, 0, 0, 0])
    for expected in (Status.RUNNING, Status.DIVERGED):
        simulation.apply_wrench("cube", push, simulation.state().poses[0, :3])
        simulation.step(NOTHING)
        assert simulation.status is expected
    last = bits(simulation.state())
    simulation.step(NOTHING, 5)
    assert bits(simulation.state()) == last
    assert simulation.state().time == pytest.approx(2 * H)


@pytest.mark.parametrize("bad", [1e12, -1e30, 1e300])
def test_nonsense_ends_in_divergence_and_leaves_nothing(start, bad, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ways = {
        "command": lambda s: s.step(np.array([0.0, bad, 0.0]), 5),
        "push": lambda s: s.apply_wrench("cube", np.full(6, bad), np.zeros(3)),
        "place": lambda s: s.apply_wrench("cube", np.ones(6), np.array([bad, 0, 0])),
        "position": lambda s: s.reset(replace(s.state(), q=np.array([bad, 0, 0]))),
        "pose": lambda s: s.reset(replace(s.state(), poses=np.full((1, 7), bad))),
        "twist": lambda s: s.reset(replace(s.state(), twists=np.full((1, 6), bad))),
    }
    for name, spoil in ways.items():
        simulation = busy(start)
        start_state = simulation.state()
        simulation.step(np.zeros(3), 10)
        spoil(simulation)
        simulation.step(np.zeros(3), 5)
        assert simulation.status is Status.DIVERGED, name
        time = simulation.state().time
        simulation.apply_wrench("cube", np.ones(6), np.zeros(3))
        simulation.step(np.zeros(3), 5)
        assert simulation.state().time == time, name
        assert len(simulation.contacts().depths) == 0
        saved = simulation.save()
        simulation.reset(start_state)
        assert simulation.status is Status.RUNNING
        simulation.step(COMMAND, 5)
        assert simulation.status is Status.RUNNING, name
        simulation.restore(saved)
        assert simulation.status is Status.DIVERGED, name
        simulation.close()
    assert list(tmp_path.iterdir()) == []


def test_pushes_add_up_and_act_for_one_step(start) -> None:
    simulation = alone(start, twist=(100.0, 0, 0, 0, 0, 0))
    simulation.step(NOTHING, 10)
    center = simulation.state().poses[0, :3]
    for sign in (1.0, -1.0):
        force = np.array([0, sign, 0, 0, 0, 0.5])
        simulation.apply_wrench("cube", force, center + np.array([0.05 * sign, 0, 0]))
        force[:] = 1e9  # what was applied is a copy
    simulation.step(NOTHING, 3)
    spin = 1.1 * 6 / 0.1**2 * H
    np.testing.assert_allclose(simulation.state().twists[0], [100.0, 0, 0, 0, 0, spin], atol=2e-5)


def test_a_push_on_what_is_fixed_does_nothing(start) -> None:
    simulation, twin = busy(start), busy(start)
    for solid in ("robot/base", "ground"):
        simulation.apply_wrench(solid, np.full(6, 100.0), np.zeros(3))
    for one in (simulation, twin):
        one.step(COMMAND, 20)
    assert bits(simulation.state()) == bits(twin.state())


def test_reset_drops_pushes_and_readings(start) -> None:
    simulation = busy(start)
    first = simulation.state()
    assert len(simulation.contacts().depths) == 0
    np.testing.assert_array_equal(simulation.wrench("ft"), np.zeros(6))
    simulation.step(COMMAND, 50)
    assert len(simulation.contacts().depths) > 0 and simulation.wrench("ft").any()
    simulation.apply_wrench("cube", np.array([0, 0, 500.0, 0, 0, 0]), np.zeros(3))
    simulation.reset(first)
    assert len(simulation.contacts().depths) == 0
    np.testing.assert_array_equal(simulation.wrench("ft"), np.zeros(6))
    simulation.step(COMMAND, 10)
    assert abs(simulation.state().twists[0, 2]) < 0.1


def test_reset_is_a_fresh_start_and_n_steps_are_n_steps(start) -> None:
    simulation = busy(start)
    first, ways = simulation.state(), []
    for stride in (1, 8, 80):
        for _ in range(0, 80, stride):
            simulation.step(COMMAND, stride)
        ways.append(bits(simulation.state()))
        simulation.apply_wrench("cube", np.full(6, 7.0), np.zeros(3))
        simulation.reset(first)
        assert bits(simulation.state()) == bits(first)
    assert len(set(ways)) == 1


def test_restoring_brings_back_readings_and_pending_pushes(start) -> None:
    simulation = busy(start)
    simulation.step(COMMAND, 50)
    simulation.apply_wrench("cube", np.array([0, 0, 500.0, 0, 0, 1.0]), np.zeros(3))
    saved = simulation.save()
    wrench, forces, here = simulation.wrench("ft"), simulation.contacts().forces, simulation.state()
    ways = []
    for _ in range(2):
        simulation.step(COMMAND, 100)
        ways.append(bits(simulation.state()))
        simulation.apply_wrench("cube", np.ones(6), np.zeros(3))
        simulation.restore(saved)
        assert bits(simulation.state()) == bits(here)
        np.testing.assert_array_equal(simulation.wrench("ft"), wrench)
        np.testing.assert_array_equal(simulation.contacts().forces, forces)
    simulation.step(COMMAND, 100)
    assert simulation.state().poses[0, 2] > 0.06
    assert {bits(simulation.state())} == set(ways)


def test_a_foreign_state_is_refused_and_changes_nothing(start) -> None:
    simulation, other = busy(start), busy(start)
    simulation.step(COMMAND, 20)
    before = bits(simulation.state())
    for foreign in (other.save(), SavedState(other, ()), None, (), "state"):
        with pytest.raises(KinetariumError, match="only by the simulation it is of"):
            simulation.restore(foreign)
    assert bits(simulation.state()) == before
    simulation.step(COMMAND, 5)
    assert simulation.status is Status.RUNNING


def test_what_is_read_cannot_be_spoilt(start) -> None:
    simulation = busy(start)
    simulation.step(COMMAND, 20)
    state = simulation.state()
    kept = bits(state)
    for array in (state.q, state.v, state.poses, state.twists):
        array[:] = 7.0
    assert bits(simulation.state()) == kept
    simulation.wrench("ft")[:] = 7.0
    assert not (simulation.wrench("ft") == 7.0).any()
    with pytest.raises(ValueError, match="read-only"):
        simulation.contacts().forces[:] = 7.0


def test_time_does_not_drift(start) -> None:
    simulation = alone(start)
    simulation.reset(replace(simulation.state(), time=2.5))
    for _ in range(7):
        simulation.step(NOTHING, 100)
    assert simulation.state().time == 2.5 + 700 * H
    simulation.step(NOTHING, 0)
    assert simulation.state().time == 2.5 + 700 * H


def test_a_closed_simulation_refuses(start) -> None:
    simulation = busy(start)
    state = simulation.state()
    simulation.close()
    simulation.close()
    for call in (
        lambda: simulation.step(COMMAND),
        lambda: simulation.reset(state),
        simulation.state,
        simulation.save,
        simulation.contacts,
        lambda: simulation.wrench("ft"),
    ):
        with pytest.raises(KinetariumError, match="closed"):
            call()


def test_options_of_another_engine_are_refused(start) -> None:
    engine = start.args[0]
    other = open_engine("ode" if engine.info.name == "mujoco" else "mujoco").options
    with pytest.raises(KinetariumError) as refusal:
        compiled(engine, ground(), options=other())
    assert engine.options.__name__ in str(refusal.value) and other.__name__ in str(refusal.value)


@pytest.mark.parametrize("timestep", [0.0, -1e-3, np.nan, np.inf])
def test_a_time_step_must_be_positive_and_finite(start, timestep) -> None:
    with pytest.raises(KinetariumError, match="time step"):
        start(ground(), timestep=timestep)
