"""Measures of a robot that is held, and the verdict on them."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import degrees
from typing import Any

import numpy as np

from kinetarium.engines.protocol import Status
from kinetarium.recording.recording import Recording, Row
from kinetarium.scene.standing import SERVO_SAG
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import rotation_from_quaternion
from kinetarium.studies.hold.config import Case

LIMITS = {
    "position_error": (2e-3, "a tenth of the 0.02 rad by which the servos may give way"),
    "torque_error": (0.02, "what a good joint torque sensor resolves of its load"),
    "joint_speed": (1e-2, "a joint that holds does not move; this is a turn in ten minutes"),
    "tilt_deg": (30.0, "no robot leans that far while it stands"),
    "height_loss": (0.05, "joints that give way by 0.02 rad lower it by far less"),
    "drift_m_s": (1e-3, "a robot at rest on dry ground does not creep"),
    "airborne": (0.01, "a robot at rest is always in contact"),
    "force_noise": (0.1, "a robot at rest is carried by its weight"),
    "force_error": (0.02, "at rest the ground carries the weight, m g, exactly"),
}
"""The limit of each measure, and why it is that."""


class Verdict(StrEnum):
    """The result for a robot in an engine."""

    HOLDS = "holds"
    """It is where its static equilibrium has it."""
    STANDS = "stands"
    """It stands on the ground, at rest."""
    SAGS = "sags"
    """It is lower than its servos allow, or than its effort limits can carry."""
    DRIFTS = "drifts"
    """It creeps."""
    CHATTERS = "chatters"
    """It vibrates, or its contacts open and close."""
    FALLS = "falls"
    """It has fallen over or down."""
    DIVERGED = "diverged"
    """The simulation became unstable."""


def score(case: Case, recording: Recording) -> Row:
    """Compare the second half of a run with the static equilibrium.

    Returns:
        verdict, cause: One of `Verdict`, and the measure that shows it.
        sag: Largest distance of a joint from its home position at the end [rad or m].
        joint_speed, fastest: Root mean square speed of the fastest joint, and its name, by its
            positions: velocities of some engines are not those with which they move.
        For a fixed base, position_error and torque_error: largest distance of a joint from its
            equilibrium, beyond what its friction explains [rad or m], and largest difference of a
            servo's effort from it, over the largest effort of the robot, of joints of a kind.
        For a free base, tilt_deg; height_loss over the height of the centre of mass; drift_m_s, the
            speed over the ground; force_error of the mean ground force over the weight;
            force_noise, its standard deviation; airborne, the share of samples without contact.
    """
    expected = recording.facts["expected"]
    measures: dict[str, Any] = dict.fromkeys(
        ("sag", "fastest", "joint_speed", *(name for name in LIMITS if name != "joint_speed"))
    )
    if len(recording["time"]) < _FEWEST:
        return {"verdict": str(Verdict.DIVERGED), "cause": "within a few samples", **measures}
    half = len(recording["time"]) // 2
    q = recording["q"]
    measures["sag"] = _largest(q[-1] - q[0])
    measures |= _speed(recording, half=half)
    if "mass" in expected:
        measures |= _on_the_ground(recording, expected, half=half)
    else:
        measures |= _at_equilibrium(recording, expected)
    verdict, cause = _verdict(measures, expected)
    if recording.status == Status.DIVERGED:
        verdict, cause = Verdict.DIVERGED, f"after {recording['time'][-1]:g} s"
    cause += _refined(recording.facts.get("refined", ()))
    return {"verdict": str(verdict), "cause": cause, **measures}


def is_error_of_the_engine(row: Row, expected: Mapping[str, Any]) -> bool:
    """Return whether a bad result may be one of the engine: nothing about the robot explains it."""
    if row["verdict"] in (Verdict.HOLDS, Verdict.STANDS) or expected.get("weak"):
        return False
    return "mass" not in expected or not _doomed(expected)


def _refined(tried: Sequence[Mapping[str, str]]) -> str:
    """Return in words what more precise simulations gave, the last of which may be good."""
    if not tried:
        return ""
    last = tried[-1]
    if last["verdict"] in (Verdict.HOLDS, Verdict.STANDS):
        return f"; with {last['with']} it {last['verdict']}"
    return f"; no better with {' or with '.join(each['with'] for each in tried)}"


_FEWEST = 4
"""Samples that a half must have at least two of."""


def exceeded(measure: str, measures: Mapping[str, Any]) -> bool:
    """Return whether a measure is beyond its limit; one that was not taken is not."""
    value = measures[measure]
    return value is not None and not abs(value) <= LIMITS[measure][0]


def _speed(recording: Recording, *, half: int) -> dict[str, Any]:
    """Return the speed of the fastest joint in the samples, or in the last steps, and its name."""
    q, time = recording["q"][half:], recording["time"][half:]
    speeds = np.sqrt(np.mean((np.diff(q, axis=0) / np.diff(time)[:, None]) ** 2, axis=0))
    if len(last := recording.facts.get("last_speeds", ())) == len(speeds):
        speeds = np.maximum(speeds, last)
    if not len(speeds):
        return {"joint_speed": 0.0}
    fastest = int(np.argmax(speeds))
    name = recording.channels["q"].columns[fastest].partition("/")[2]
    return {"joint_speed": float(speeds[fastest]), "fastest": name}


def _at_equilibrium(recording: Recording, expected: Mapping[str, Any]) -> dict[str, Any]:
    columns = recording.channels["q"].columns
    own = [columns.index(f"robot/{name}") for name in expected["joints"]]
    q = recording["q"][-1, own]
    measures: dict[str, Any] = {}
    if expected["positions"] is not None and not expected["weak"]:
        # A joint that much damping slows down is still on its way, by exp(-t / T).
        lag = np.exp(-recording["time"][-1] / np.maximum(expected["settling"], 1e-6))
        way = np.abs(np.subtract(expected["positions"], expected["home"]))
        off = np.abs(q - expected["positions"]) - expected["slack"] - lag * way
        measures["position_error"] = max(0.0, float(off.max(initial=0.0)))
        stiffness = np.array(expected["stiffness"])
        effort = stiffness * np.maximum(off, 0.0)
        scale = _largest(np.array(expected["gravity"]))
        measures["torque_error"] = _largest(effort) / scale if scale > _WEIGHTLESS else None
    return measures


_WEIGHTLESS = 1e-6
"""Largest effort of gravity below which errors are not relative to it [N m or N]."""


def _on_the_ground(
    recording: Recording, expected: Mapping[str, Any], *, half: int
) -> dict[str, Any]:
    poses, force = recording["poses"][:, 0], recording["ground"][half:]
    weight = expected["mass"] * GRAVITY
    turn = rotation_from_quaternion(poses[-1, 3:]) @ rotation_from_quaternion(poses[0, 3:]).T
    seconds = float(recording["time"][-1] - recording["time"][half])
    return {
        "tilt_deg": degrees(np.arccos(np.clip(float(turn[2, 2]), -1.0, 1.0))),
        "height_loss": float(poses[0, 2] - poses[-1, 2]) / max(expected["height"], 1e-3),
        "drift_m_s": float(np.hypot(*(poses[-1, :2] - poses[half, :2]))) / seconds,
        "force_error": float(force[:, 2].mean()) / weight - 1,
        "force_noise": float(force[:, 2].std()) / weight,
        "airborne": float(np.mean(force[:, 3] == 0)),
    }


def _verdict(measures: Mapping[str, Any], expected: Mapping[str, Any]) -> tuple[Verdict, str]:
    """Return the worst that happened, and the measure that shows it."""

    def beyond(*names: str) -> str:
        return ", ".join(_said(name, measures) for name in names if exceeded(name, measures))

    if "mass" in expected:
        if expected["margin"] is None:
            return Verdict.FALLS, _doomed(expected).removeprefix("; ")
        cause = beyond("tilt_deg") or (
            _said("height_loss", measures) if measures["height_loss"] > _FALLEN else ""
        )
        if cause:
            return Verdict.FALLS, f"{cause}{_doomed(expected)}"
    if expected.get("weak"):
        return Verdict.SAGS, _weakness(expected)
    if cause := beyond("height_loss", "position_error"):
        return Verdict.SAGS, f"{cause}{_doomed(expected) if 'mass' in expected else ''}"
    if cause := beyond("joint_speed", "airborne", "force_noise"):
        return Verdict.CHATTERS, cause
    if cause := beyond("drift_m_s"):
        return Verdict.DRIFTS, cause
    good = Verdict.STANDS if "mass" in expected else Verdict.HOLDS
    return good, beyond("torque_error", "force_error")


_FALLEN = 0.5
"""Share of its height that a robot has lost which fell, and did not merely give way [-]."""

_WORDS = {
    "position_error": "{:.2g} rad or m from its equilibrium",
    "torque_error": "torques {:.1%} from those of gravity",
    "joint_speed": "joint {fastest} moves at {:.2g} rad/s or m/s",
    "tilt_deg": "tilts by {:.0f} deg",
    "drift_m_s": "creeps at {:.2g} m/s",
    "airborne": "{:.0%} of samples without contact",
    "force_noise": "the ground force varies by {:.0%} of the weight",
    "force_error": "the ground force is {:+.1%} off the weight",
}


def _said(measure: str, measures: Mapping[str, Any]) -> str:
    value = measures[measure]
    if measure == "height_loss":
        return f"{'sinks' if value > 0 else 'rises'} by {abs(value):.0%} of its height"
    return _WORDS[measure].format(value, fastest=measures["fastest"])


def _doomed(expected: Mapping[str, Any]) -> str:
    """Say why a robot must fall; empty if it need not."""
    margin, sway = expected["margin"], SERVO_SAG * expected["height"]
    if margin is None:
        return "; it has no collision shapes to stand on"
    if margin < 0:
        return f"; its centre of mass is {-1e3 * margin:.0f} mm outside its support"
    if margin < sway:
        return (
            f"; its centre of mass is only {1e3 * margin:.1f} mm inside its support, and servos"
            f" that give way by {SERVO_SAG:g} rad move it by {1e3 * sway:.0f} mm"
        )
    return ""


def _weakness(expected: Mapping[str, Any]) -> str:
    name = expected["weak"][0]
    i = expected["joints"].index(name)
    more = f" and {len(expected['weak']) - 1} more" if len(expected["weak"]) > 1 else ""
    return (
        f"{name}{more}: its effort limit of {expected['effort'][i]:.3g} is below the load of"
        f" {abs(expected['torques'][i]):.3g} N m or N"
    )


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
