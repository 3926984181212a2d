"""Bring a robot file and a controller of your own, and run both in every engine."""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from kinetarium import Scene, list_engines, run
from kinetarium.control import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.roles import RoleOptions
from kinetarium.scene import Actuation, DriveMode, placed_robot

DATA = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
FILE = DATA / "example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
SWING, PERIOD = 0.3, 2.0  # of every joint [rad], [s]


class ComputedTorque:
    """Swings all joints: tau = M (a_ref + kd (v_ref - v) + kp (q_ref - q)) + C v + g."""

    rate = 500.0

    def __init__(self, dynamics: RobotDynamics, home: np.ndarray, *, bandwidth: float = 20.0):
        """Take over the robot, where it swings from, and the bandwidth [rad/s]."""
        self._dynamics, self._home = dynamics, home
        self._kp, self._kd = bandwidth**2, 2 * bandwidth

    def reset(self) -> None:
        """Do nothing: the law has no state."""

    def reference(self, t: float) -> tuple[np.ndarray, float, float]:
        """Return positions, velocity and acceleration of all joints."""
        w = 2 * np.pi / PERIOD
        q = self._home + SWING / 2 * (1 - np.cos(w * t))
        return q, SWING / 2 * w * np.sin(w * t), SWING / 2 * w**2 * np.cos(w * t)

    def update(self, t: float, measurement: Measurement) -> np.ndarray:
        """Return the torques [N m]."""
        q, v = measurement.q, measurement.v
        q_ref, v_ref, a_ref = self.reference(t)
        a = a_ref + self._kd * (v_ref - v) + self._kp * (q_ref - q)
        return self._dynamics.inverse_dynamics(q, v, a)


robot = RoleOptions().open(str(FILE))
torques = {joint.name: Actuation(DriveMode.TORQUE) for joint in robot.model.moving_joints}
scene = Scene((placed_robot(robot, actuation=torques),))
home = np.array([robot.home[joint.name] for joint in robot.model.moving_joints])
law = ComputedTorque(RobotDynamics(robot.model), home)

for engine in (listing.name for listing in list_engines() if listing.available):
    recording = run(scene, engine=engine, duration=PERIOD, controller=law)
    wanted = np.array([law.reference(t)[0] for t in recording["time"]])
    error = float(np.abs(recording["q"] - wanted).max())
    print(f"{engine:8} {recording.status}: off by at most {1000 * error:.2f} mrad")
    assert recording.status == "running"
    assert error < 0.01
