"""Bring a robot file and a controller of your own, and run both in every engine."""

import sys
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from kinetarium import Scene, list_engines, run
from kinetarium.dynamics import RobotDynamics
from kinetarium.roles import RoleOptions
from kinetarium.scene import Actuation, DriveMode, placed_robot

DATA = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
FILE = DATA / "example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
SWING, PERIOD, BANDWIDTH = 0.3, 2.0, 20.0  # of every joint [rad], [s], [rad/s]


class ComputedTorque:
    """Swings all joints: tau = M (a_ref + kd (v_ref - v) + kp (q_ref - q)) + C v + g."""

    rate = 500.0

    def reset(self):
        """Do nothing: the law has no state."""

    def reference(self, t):
        """Return positions, velocity and acceleration of all joints."""
        w = 2 * np.pi / PERIOD
        q = home + SWING / 2 * (1 - np.cos(w * t))
        return q, SWING / 2 * w * np.sin(w * t), SWING / 2 * w**2 * np.cos(w * t)

    def update(self, t, measurement):
        """Return the torques [N m]."""
        (q_ref, v_ref, a_ref), q, v = self.reference(t), measurement.q, measurement.v
        a = a_ref + 2 * BANDWIDTH * (v_ref - v) + BANDWIDTH**2 * (q_ref - q)
        return dynamics.inverse_dynamics(q, v, a)


robot = RoleOptions().open(str(FILE))
dynamics, joints = RobotDynamics(robot.model), robot.model.moving_joints
torques = {joint.name: Actuation(DriveMode.TORQUE) for joint in joints}
scene = Scene((placed_robot(robot, actuation=torques),))
home, law, errors = np.array([robot.home[joint.name] for joint in joints]), ComputedTorque(), {}
for engine in (listing.name for listing in list_engines() if listing.available):
    recording = run(scene, engine=engine, duration=PERIOD, controller=law)
    wanted = np.array([law.reference(t)[0] for t in recording["time"]])
    errors[engine] = 1000 * np.abs(recording["q"] - wanted).max(axis=1)
    print(f"{engine:8} {recording.status}: off by at most {errors[engine].max():.2f} mrad")
    assert recording.status == "running" and errors[engine].max() < 10

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    plt.figure(figsize=(5, 2.8), layout="constrained")
    for name, error in errors.items():
        plt.plot(recording["time"], error, label=name, linewidth=1)
    plt.legend(fontsize=7, title="tracking error [mrad] over time [s]")
    plt.savefig(sys.argv[1], dpi=80)
