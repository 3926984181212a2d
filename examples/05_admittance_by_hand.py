"""Press a body on a wall by admittance control on SE(3), without an engine or a robot."""

import sys

import numpy as np

from kinetarium.control import AdmittanceGains, AdmittanceSE3
from kinetarium.spatial import se3

TICK = 1e-3  # [s]
WALL, STIFFNESS, DAMPING = 0.05, 1e5, 2000.0  # [m], [N/m], [N s/m]

law = AdmittanceSE3(AdmittanceGains(D=300.0, K=200.0), timestep=TICK)
X_WB = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 0.2])  # the body, turned a little
X_WD, V_D = np.eye(4), np.zeros(6)  # where it should be: at the origin, upright
X_WD[0, 3] = WALL + 0.005
F_D = np.array([-100.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # the wall should push back with 100 N

V, touched, pushes = np.zeros(6), False, []
for tick in range(9_000):
    speed = (X_WB[:3, :3] @ V[:3])[0]
    depth = X_WB[0, 3] - WALL
    push = max(0.0, STIFFNESS * depth + DAMPING * speed) if depth > 0 else 0.0
    touched = touched or push > 0
    pushes.append(push)
    f_B = X_WB[:3, :3].T @ (-push, 0.0, 0.0)
    F_B = np.concatenate([f_B, np.zeros(3)])
    V = law.step(X_WB, X_WD=X_WD, V_D=V_D, F_B=F_B, F_D=F_D, contact=touched)
    X_WB = X_WB @ se3.exp(V * TICK)
    if tick % 3000 == 2999:
        turn = np.degrees(se3.log(X_WB)[5])
        print(f"{(tick + 1) * TICK:4.1f} s: pushed back with {push:6.1f} N, turned {turn:5.2f} deg")

assert abs(push - 100.0) < 1.0 and abs(turn) < 0.1

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
    axes.plot(np.arange(len(pushes))[::10] * TICK, pushes[::10])
    axes.axhline(100, color="k", linestyle=":")
    axes.set(xlabel="time [s]", ylabel="force of the wall [N]")
    axes.set_title("Admittance control presses with the force that is asked for", fontsize=10)
    figure.savefig(sys.argv[1], dpi=80)
