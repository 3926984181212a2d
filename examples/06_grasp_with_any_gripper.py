"""Mount a hand on an arm, and carry a box with it in two engines."""

import sys
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kinetarium import load_robot, run_study
from kinetarium.model import attach, write_urdf

DATA = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
HAND = DATA / "example-robot-data/robots/allegro_hand_description/urdf/allegro_right_hand.urdf"


def ur5_with_hand(folder: Path) -> str:
    """Write a UR5 with an Allegro hand on its flange, 10 cm before it."""
    X_FH = np.eye(4)
    X_FH[2, 3] = 0.1
    robot = attach(load_robot("ur5"), load_robot(HAND), link="tool0", X_LP=X_FH, prefix="hand_")
    text, meshes = write_urdf(robot, mesh_folder="meshes")
    (folder / "meshes").mkdir()
    for name, data in meshes.items():
        (folder / "meshes" / name).write_bytes(data)
    file = folder / "ur5_allegro.urdf"
    file.write_text(text)
    return str(file)


with TemporaryDirectory() as place:
    robot = ur5_with_hand(Path(place))
    result = run_study(
        "grasp", robot=robot, engine=("mujoco", "bullet"), path=("circle",), duration=1.0,
        profile=("matched",), starts=1, mass=0.2, force=20.0, workers=0,
    )  # fmt: skip
    errors = {row["engine"]: row["force_error_n"] for row in result.rows}
    for row in result.rows:
        print(f"{row['engine']:8} held: {row['held']}, force off by {row['force_error_n']:.3f} N")
        assert row["held"]

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 2.6), layout="constrained")
    axes.bar(list(errors), list(errors.values()), color="#4a6fa5")
    axes.set_ylabel("force error [N]")
    axes.set_title("A box in an Allegro hand on a UR5, grip of 20 N", fontsize=9)
    figure.savefig(sys.argv[1], dpi=80)
