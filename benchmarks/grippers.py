"""Grasp with different grippers of public robots: a table by `python -m benchmarks.grippers`."""

from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kinetarium import load_robot, run_study
from kinetarium.model import attach, write_urdf

DATA = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
ROBOTS = DATA / "example-robot-data/robots"
HAND = ROBOTS / "allegro_hand_description/urdf/allegro_right_hand.urdf"
BULLET = Path(find_spec("pybullet_data").origin).parent
ENGINES = ("mujoco", "bullet", "ode", "physx", "dart")
OBJECTS = ("box:0.04", "sphere:0.02", "cylinder:0.015:0.06")


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


def cases(folder: Path) -> dict[str, dict[str, object]]:
    """Return robots with different grippers, and what they can carry."""
    usual = {"mass": 0.5, "force": 50.0}
    baxter = str(ROBOTS / "baxter_description/urdf/baxter.urdf")
    pr2 = str(ROBOTS / "pr2_description/urdf/pr2.urdf")
    xarm = str(BULLET / "xarm/xarm6_with_gripper.urdf")
    return {
        "UR5 with Allegro hand": {"robot": ur5_with_hand(folder), "mass": 0.2, "force": 20.0},
        "Baxter, sliding fingers": {"robot": baxter, "gripper": "left_wrist", **usual},
        "PR2, swinging fingers": {"robot": pr2, "gripper": "right_gripper", **usual},
        "xArm 6, linkage": {"robot": xarm, **usual},
    }


def grasp(**config: object) -> dict[str, dict[str, object]]:
    """Grasp with the same controller and contacts in all engines; return rows by engine."""
    result = run_study("grasp", profile=("matched",), starts=1, workers=0, **config)
    return {str(row["engine"]): row for row in result.rows}


def words(row: dict[str, object]) -> str:
    """Return the force error, the error of the grip at which the object slides, or a failure."""
    if row.get("status") != "completed":
        return "refused"
    if row["path"] == "release":
        slides, ideal = row["sliding_grip_n"], row["ideal_sliding_grip_n"]
        return f"{100 * (slides / ideal - 1):+.1f} %" if slides and ideal else "no slip"
    return f"{row['force_error_n']:.1e} N" if row["held"] else f"lost at {row['held_s']:.1f} s"


def main() -> None:
    print(f"| robot | object | {' | '.join(ENGINES)} |\n|{'---|' * (2 + len(ENGINES))}")
    with TemporaryDirectory() as place:
        for name, case in cases(Path(place)).items():
            for held, path in (*((each, "circle") for each in OBJECTS), (OBJECTS[0], "release")):
                rows = grasp(engine=ENGINES, path=(path,), object=held, duration=1.5, **case)
                cells = " | ".join(words(rows.get(engine, {})) for engine in ENGINES)
                what = f"{held}, {path}" if path == "release" else held
                print(f"| {name} | {what} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
