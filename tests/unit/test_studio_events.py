"""Events on the time line, of runs whose events are known."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.figure.replay import EventKind
from kinetarium.legs import WalkPlan, plan_walk
from kinetarium.recording.recording import Channel, Recording, RunStatus
from kinetarium.studio._events import run_events
from unit.test_studio_server import drop_run

TIME = np.linspace(0.0, 2.0, 201)


def recorded(facts=None, **channels):
    run = drop_run("a")
    kept = {"time": Channel(TIME, "s"), **channels}
    return replace(run, recording=Recording(kept, "running", facts or {}))


def found(run):
    return [(event.kind, event.name, round(event.time, 6)) for event in run_events(run)]


def test_contact_of_sensors_and_probes():
    touched = (TIME > 0.495) & (TIME < 1.2)
    touched[60:62] = False  # for 20 ms
    wrench = np.outer(touched, [0.0, 3.0, 4.0, 0.0, 0.0, 0.0])
    probe = np.column_stack([np.where(TIME >= 1.5, 7.0, 0.0), 0 * TIME, TIME >= 1.5])
    run = recorded(
        **{"wrench/pad": Channel(wrench, "N, N m"), "contact/cube": Channel(probe, "N, m, 1")}
    )
    assert found(run) == [
        (EventKind.CONTACT, "pad: contact", 0.5),
        (EventKind.CONTACT, "pad: contact ends", 1.2),
        (EventKind.CONTACT, "cube: contact", 1.5),
    ]


def test_an_impact_is_where_a_fall_ends():
    twists = np.zeros((201, 1, 6))
    twists[:, 0, 2] = np.where(TIME < 0.6, -9.81 * TIME, 0.0)
    run = recorded(twists=Channel(twists, "m/s, rad/s", ("box",)))
    assert found(run) == [(EventKind.CONTACT, "box: impact", 0.6)]


def test_slip_in_a_gripper():
    X_TO = np.tile(np.eye(4), (201, 1, 1))
    X_TO[:, 0, 3] = np.maximum(TIME - 1.0, 0.0) * 0.021
    run = recorded(object=Channel(X_TO.reshape(-1, 16), "m"))
    assert found(run) == [
        (EventKind.SLIP, "object slips 1 mm", 1.05),
        (EventKind.SLIP, "object slips 10 mm", 1.48),
    ]


def test_warnings_of_a_walk_are_at_their_steps():
    walk = plan_walk(WalkPlan(waypoints=((0.0, 0.0), (40.0, 0.0)), order=(2, 1, 4, 3)))
    assert walk.warnings
    channels = {
        "time": Channel(walk.time, "s"),
        "support": Channel(walk.support.astype(float), "-"),
    }
    facts = {"plan": {"warnings": [warning.text for warning in walk.warnings]}}
    run = replace(drop_run("a"), recording=Recording(channels, "running", facts))
    events = run_events(run)
    assert {event.kind for event in events} == {EventKind.WARNING}
    assert len(events) == len([warning for warning in walk.warnings if warning.step])
    for event in events:
        step = walk.steps[int(event.name.split(":")[0].split()[1]) - 1]
        assert walk.time[step.first] < event.time <= walk.time[step.last]


def test_divergence_and_events_of_a_study():
    facts = {"events": [["slip", "own", 0.25], ["warning", "late", 99.0], ["odd", "x", 1], 7]}
    run = replace(recorded(facts), status=RunStatus.DIVERGED, message="speed of box")
    assert found(run) == [
        (EventKind.SLIP, "own", 0.25),
        (EventKind.DIVERGENCE, "diverged: speed of box", 2.0),
    ]


@pytest.mark.parametrize("values", [np.zeros((201, 2)), np.full((201, 6), np.nan)])
def test_odd_channels_are_no_events(values):
    assert found(recorded(**{"wrench/x": Channel(values, "N")}, facts={"events": "x"})) == []
