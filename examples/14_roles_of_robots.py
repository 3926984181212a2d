"""Find arms, grippers and wheels of the catalogue's robots, by what is declared or by geometry."""

import sys

from kinetarium import list_robots, load_robot
from kinetarium.roles import find_roles

table = {}
for entry in list_robots():
    roles = find_roles(load_robot(entry.name))
    table[entry.name] = [len(roles.arms), len(roles.grippers), len(roles.wheels), len(roles.legs)]
    arms, grippers, wheels, legs = table[entry.name]
    print(f"{entry.name:14} {arms} arms, {grippers} grippers, {wheels} wheels, {legs} legs")
assert table["scout-panda"][:3] == [1, 1, 4]

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(4.4, 3.2), layout="constrained")
    axes.imshow(list(table.values()), cmap="Blues", vmax=6, aspect="auto")
    for i, counts in enumerate(table.values()):
        for j, count in enumerate(counts):
            axes.text(j, i, count, ha="center", va="center")
    axes.set_xticks(range(4), ["arms", "grippers", "wheels", "legs"])
    axes.set_yticks(range(len(table)), list(table))
    figure.savefig(sys.argv[1], dpi=80)
