"""Train a linear policy to follow paths in one engine, and replay it in others.

Augmented random search (Mania, Guy and Recht, 2018), NumPy alone; a few updates show how it works.
`python -m benchmarks.train_policy` trains until the policy is good.
"""

import sys

import numpy as np

from kinetarium import list_engines
from kinetarium.gym import make

UPDATES, DIRECTIONS, STEP, NOISE = 3, 2, 0.1, 0.1
# Observations are metres, metres per second and sines: a fixed scale makes them alike.
SCALE = np.array([0.2, 0.2, 0.5, 1.0, 0.3, 0.2, 0.6, 0.3, 0.9, 0.4, 0.5, 0.5])


def episode(env, policy, seed):
    """Return the sum of the rewards of an episode: 1 for a perfect one."""
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        observation, reward, ended, cut, _ = env.step(np.tanh(policy @ (observation / SCALE)))
        total, over = total + reward, ended or cut
    return total


random, policy, learnt = np.random.default_rng(1), np.zeros((2, len(SCALE))), []
env = make(robot="husky4", engine="mujoco", task="drive-path", duration=1.0)
for update in range(UPDATES):
    slope, found = 0.0, []
    for _ in range(DIRECTIONS):
        direction, seed = random.standard_normal(policy.shape), int(random.integers(1000))
        better, worse = (episode(env, policy + s * NOISE * direction, seed) for s in (1, -1))
        slope, found = slope + (better - worse) * direction, [*found, better, worse]
    policy = policy + STEP / (DIRECTIONS * max(np.std(found), 1e-6)) * slope
    learnt.append(episode(env, policy, 1000))
    print(f"update {update + 1}: return {learnt[-1]:.3f} in mujoco")
env.close()
installed = [engine.name for engine in list_engines() if engine.available]
for name in [name for name in ("ode", "bullet") if name in installed]:
    env = make(robot="husky4", engine=name, task="drive-path", duration=1.0)
    elsewhere = episode(env, policy, 1000)
    env.close()
    print(f"replayed: return {elsewhere:.3f} in {name}")
    assert np.isfinite(elsewhere) and elsewhere <= 1

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    plt.figure(figsize=(4, 2.6), layout="constrained")
    plt.plot(range(1, UPDATES + 1), learnt, "o-", label="return of an episode over updates")
    plt.legend(fontsize=8)
    plt.savefig(sys.argv[1], dpi=80)
