"""BasePlacement: a base and the poses it reaches."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose
from kinetarium.storage.serialization import to_builtins

if TYPE_CHECKING:
    from kinetarium.reach.placement.branches import Flip


@dataclass(frozen=True, slots=True, eq=False)
class BasePlacement:
    """A base and the poses it reaches.

    Attributes:
        X_WB: Pose of the base link, shape (4, 4).
        yaw: Its rotation about the plane's normal [rad].
        reached: Whether each pose is reached, shape (n,).
        joints: Joint positions for each pose, NaN where it is not reached [rad or m],
            shape (n, joints).
        manipulability: The manipulabilities, NaN where a pose is not reached [m^3], shape (n,).
        elapsed: Computing time of the query [s].
        flips: Changes of the configuration along the list; None if the poses were not to be
            reached on one branch.
        strain: The greatest joint speed on the way to each pose at the speed of the tool, as a
            multiple of its limit, NaN where there is no such way, shape (n,); None likewise.
        X_WR: Pose of the robot's root, shape (4, 4).
        root_yaw: Its rotation about the plane's normal [rad].
        kept: The fraction of the errors of the base at which each pose of the alternative is
            reached, shape (n / alternatives,); None if none were given.
        robust: Whether all poses of the alternative are kept under all errors.
        alternative: The best of several alternatives.
    """

    X_WB: Array
    yaw: float
    reached: NDArray[np.bool_]
    joints: Array
    manipulability: Array
    elapsed: float
    flips: "tuple[Flip, ...] | None" = None
    strain: Array | None = None
    X_WR: Array = field(default_factory=pose)
    root_yaw: float = 0.0
    kept: Array | None = None
    robust: bool = False
    alternative: int = 0

    def as_json(self) -> dict[str, object]:
        """Return the placement as JSON-like data, without the time of the query."""
        x, y, z = self.X_WB[:3, 3].tolist()
        mean = float(self.manipulability[self.reached].mean()) if self.reached.any() else 0.0
        data: dict[str, object] = {
            "base": {"x": x, "y": y, "z": z, "yaw": self.yaw, "pose": self.X_WB.tolist()},
            "reachable": int(self.reached.sum()),
            "total": len(self.reached),
            "manipulability": mean,
            "joints": [
                q.tolist() if reached else None
                for q, reached in zip(self.joints, self.reached, strict=True)
            ],
        }
        kept = self.flips
        data["flips"] = None if kept is None else [to_builtins(flip) for flip in kept]
        return data
