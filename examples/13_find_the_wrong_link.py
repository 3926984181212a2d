"""Let one library have a wrong robot, and find out which, where and by how much."""

import sys

from kinetarium import verify_dynamics

wrong = {"mujoco": {"armature": {"panda_joint4": 0.1}}}
found = verify_dynamics("panda", backend_overrides=wrong)
for fault in found.faults:
    print(fault.message)
assert "panda_joint4" in found.faults[0].message

errors = {row["backend"]: row["max_rel"] for row in found.rows if row["quantity"] == "M"}
print({backend: f"{error:.0e}" for backend, error in errors.items() if error})
assert errors["mujoco"] > 1e-3

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    shown = {backend: error for backend, error in errors.items() if error}
    figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
    axes.bar(list(shown), list(shown.values()), color="#4a6fa5")
    axes.set_yscale("log")
    axes.set_ylabel("error of M, relative")
    axes.set_title("An armature of 0.1 kg m² left on at panda_joint4", fontsize=10)
    figure.savefig(sys.argv[1], dpi=80)
