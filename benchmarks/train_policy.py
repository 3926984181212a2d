"""Train a linear policy to follow paths in one engine, and replay it in all of them.

The algorithm is augmented random search (Mania, Guy and Recht, 2018): NumPy alone, on the CPU.
`python -m benchmarks.train_policy` trains in about a minute of CPU time and prints the table of
docs/gym.md; examples/09_train_and_replay.py is the same in short.
"""

from time import process_time

import numpy as np

from kinetarium import list_engines
from kinetarium.gym import RobotEnv, make

TRAINED_IN = "mujoco"
UPDATES, DIRECTIONS, BEST = 10, 8, 4
STEP, NOISE = 0.1, 0.1
TEST_SEEDS = range(1000, 1010)
DURATION = 6.0  # [s]

# Observations are metres, metres per second and sines: a fixed scale makes them alike.
SCALE = np.array([0.2, 0.2, 0.5, 1.0, 0.3, 0.2, 0.6, 0.3, 0.9, 0.4, 0.5, 0.5])


def environment(engine: str) -> RobotEnv:
    """Return the task in an engine."""
    return make(robot="husky4", engine=engine, task="drive-path", duration=DURATION)


def episode(env: RobotEnv, policy: np.ndarray, seed: int) -> float:
    """Return the sum of the rewards of an episode: 1 for a perfect one."""
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        observation, reward, ended, cut, _ = env.step(np.tanh(policy @ (observation / SCALE)))
        total += reward
        over = ended or cut
    return total


def train(env: RobotEnv, random: np.random.Generator) -> np.ndarray:
    """Return the policy, shape (actions, observations)."""
    policy = np.zeros((2, len(SCALE)))
    for update in range(UPDATES):
        tried = []
        for _ in range(DIRECTIONS):
            direction, seed = random.standard_normal(policy.shape), int(random.integers(1000))
            returns = [episode(env, policy + s * NOISE * direction, seed) for s in (1, -1)]
            tried.append((returns, direction))
        tried.sort(key=lambda one: -max(one[0]))
        best = tried[:BEST]
        spread = np.std([r for returns, _ in best for r in returns])
        slope = sum((returns[0] - returns[1]) * direction for returns, direction in best)
        policy = policy + STEP / (BEST * max(spread, 1e-6)) * slope
        if update % 5 == 4:
            print(f"  update {update + 1}: return {episode(env, policy, 0):.3f}")
    return policy


def main() -> None:
    began = process_time()
    trainer = environment(TRAINED_IN)
    print(f"training in {TRAINED_IN}: {2 * UPDATES * DIRECTIONS} episodes of {DURATION:g} s")
    policy = train(trainer, np.random.default_rng(1))
    idle = np.mean([episode(trainer, np.zeros_like(policy), seed) for seed in TEST_SEEDS])
    trainer.close()
    print(f"  without training: return {idle:.3f}")
    print(f"  {process_time() - began:.0f} s of CPU time\n")

    print(f"{'engine':<8}  {'return':>6}  {'spread':>6}  {'worst':>6}")
    names = [engine.name for engine in list_engines() if engine.available]
    table = {}
    for name in names:
        env = environment(name)
        table[name] = [episode(env, policy, seed) for seed in TEST_SEEDS]
        env.close()
        row = np.mean(table[name]), np.std(table[name]), np.min(table[name])
        print(f"{name:<8}  {row[0]:6.3f}  {row[1]:6.3f}  {row[2]:6.3f}")
    print(f"\nall: {process_time() - began:.0f} s of CPU time")

    assert all(np.isfinite(returns).all() and max(returns) <= 1 for returns in table.values())
    assert np.mean(table[TRAINED_IN]) > 0.8


if __name__ == "__main__":
    main()
