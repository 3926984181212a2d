"""Events of a run for the time line: contact, slip, warnings, divergence.

They are read from what was recorded: forces of sensors and contact probes, velocities of free
bodies, the pose of an object in its gripper, feet on the ground, warnings of a plan, and how the
run ended. A study adds its own by the fact "events", a list of [kind, name, time].
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.figure.replay import EventKind, Marker
from kinetarium.recording.recording import Recording, Run, RunStatus
from kinetarium.spatial.arrays import Array

_MOST = 60
"""Maximum number of events of a kind; more cannot be distinguished on a time line."""
_LEAST_FORCE = 0.05
"""A force below this, or below a hundredth of the greatest, is no contact [N]."""
_APART = 0.05
"""Contacts that are interrupted for a shorter time are one [s]."""
_IMPACT = 30.0
"""A free body that is accelerated more than this has touched something [m/s^2]."""
_SLIP = 1e-3
"""An object that has moved farther than this in its gripper slips [m]."""


def run_events(run: Run) -> tuple[Marker, ...]:
    """Return the events of a run, in time order."""
    recording = run.recording
    if recording is None or not len(recording["time"]):
        return ()
    found = [
        marker
        for events in (
            _contacts(recording),
            _impacts(recording),
            _slips(recording),
            _warnings(recording.facts, recording),
            _named(recording.facts),
            _divergence(run, recording),
        )
        for marker in islice(events, _MOST)
    ]
    first, last = float(recording["time"][0]), float(recording["time"][-1])
    return tuple(
        sorted(
            (marker for marker in found if first <= marker.time <= last),
            key=lambda marker: marker.time,
        )
    )


def _contacts(recording: Recording) -> Iterator[Marker]:
    """Yield when sensors and contact probes begin and cease to feel a force."""
    time = recording["time"]
    for name, channel in recording.channels.items():
        kind, _, what = name.partition("/")
        values = np.asarray(channel.values)
        if kind == "wrench" and values.shape == (len(time), 6):
            force = np.linalg.norm(values[:, :3], axis=1)
        elif kind == "contact" and values.shape == (len(time), 3):
            force = np.where(values[:, 2] > 0, np.abs(values[:, 0]), 0.0)
        else:
            continue
        force = np.nan_to_num(force)
        least = max(_LEAST_FORCE, 0.01 * float(force.max(initial=0.0)))
        for first, last in _spans(force > least, time):
            if first > 0:
                yield Marker(f"{what}: contact", float(time[first]), EventKind.CONTACT)
            if last < len(time):
                yield Marker(f"{what}: contact ends", float(time[last]), EventKind.CONTACT)


def _spans(on: NDArray[np.bool_], time: Array) -> list[tuple[int, int]]:
    """Return the first sample of each time that something holds, and the first one after it."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(np.int8), [0]])))
    spans: list[tuple[int, int]] = []
    for first, last in edges.reshape(-1, 2).tolist():
        if spans and time[first] - time[spans[-1][1] - 1] < _APART:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return spans


def _impacts(recording: Recording) -> Iterator[Marker]:
    """Yield when free bodies are stopped or pushed hard."""
    time, channel = recording["time"], recording.channels.get("twists")
    if channel is None or len(time) < 2 or np.ndim(channel.values) != 3:
        return
    probed = any(name.startswith("contact/") for name in recording.channels)
    steps = np.diff(time)
    for i, name in enumerate(channel.columns if not probed else ()):
        change = np.linalg.norm(np.diff(np.asarray(channel.values)[:, i, :3], axis=0), axis=1)
        hard = np.concatenate([[False], change > _IMPACT * np.maximum(steps, 1e-9)])
        for first, _ in _spans(hard, time):
            yield Marker(f"{name}: impact", float(time[first]), EventKind.CONTACT)


def _slips(recording: Recording) -> Iterator[Marker]:
    """Yield when an object has moved in its gripper, ever farther by a factor of ten."""
    time, channel = recording["time"], recording.channels.get("object")
    if channel is None or np.shape(channel.values) != (len(time), 16):
        return
    places = np.asarray(channel.values).reshape(-1, 4, 4)[:, :3, 3]
    start = int(np.searchsorted(time, max(0.0, float(time[0]))))
    away = np.linalg.norm(places - places[min(start, len(time) - 1)], axis=1)
    away[:start] = 0.0
    for far in (_SLIP, 10 * _SLIP, 100 * _SLIP):
        if (away > far).any():
            at = float(time[int(np.argmax(away > far))])
            yield Marker(f"object slips {far * 1e3:g} mm", at, EventKind.SLIP)


def _warnings(facts: Mapping[str, Any], recording: Recording) -> Iterator[Marker]:
    """Yield the warnings of a walk at the leg steps that they name."""
    plan, channel = facts.get("plan"), recording.channels.get("support")
    texts = plan.get("warnings") if isinstance(plan, Mapping) else None
    time = recording["time"]
    if not isinstance(texts, Sequence) or channel is None or np.ndim(channel.values) != 2:
        return
    lifted = np.diff((np.asarray(channel.values) < 0.5).astype(np.int8), axis=0, prepend=0)
    begins = time[np.sort(np.nonzero(lifted > 0)[0])]
    for text in texts:
        step = re.match(r"step (\d{1,6})\b", str(text))
        if step and len(begins):
            number = min(max(int(step[1]), 1), len(begins))
            yield Marker(str(text), float(begins[number - 1]), EventKind.WARNING)


def _named(facts: Mapping[str, Any]) -> Iterator[Marker]:
    """Yield the events that a study has recorded itself; received files may hold anything."""
    events = facts.get("events")
    for event in events if isinstance(events, Sequence) else ():
        match event:
            case [str(kind), str(name), int() | float() as time]:
                if kind in tuple(EventKind) and isfinite(time):
                    yield Marker(name, float(time), EventKind(kind))


def _divergence(run: Run, recording: Recording) -> Iterator[Marker]:
    if run.status is RunStatus.DIVERGED or recording.status == "diverged":
        name = f"diverged: {run.message}" if run.message else "diverged"
        yield Marker(name, float(recording["time"][-1]), EventKind.DIVERGENCE)
