"""SerialChain: the joints from a base link to a tool link, as arrays for kernels."""

from dataclasses import dataclass
from math import isfinite, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.errors import KinetariumError
from kinetarium.model.load import CatalogueEntry, catalogue_entry, catalogue_names
from kinetarium.model.robot import Joint, JointType, RobotModel
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_onto


class ChainArrays(NamedTuple):
    """A chain whose every joint turns about, or slides along, the z axis of its frame.

    Frame 0 is that of the base link; frame i is moved by joint i.

    Attributes:
        frames: Pose of each joint's frame at position zero in the frame before, then of
            the tool in the last frame, rows [R p], shape (joints + 1, 3, 4).
        prismatic: Whether a joint slides, shape (joints,).
        lower: Lowest positions [rad or m], shape (joints,).
        upper: Highest positions [rad or m], shape (joints,).
        middle: Solutions are returned within half a turn of these positions [rad or m],
            shape (joints,).
    """

    frames: Array
    prismatic: NDArray[np.bool_]
    lower: Array
    upper: Array
    middle: Array


@dataclass(frozen=True, slots=True, eq=False)
class SerialChain:
    """The joints between two links of a robot; its other joints are fixed.

    Attributes:
        model: The robot.
        base_link: The link in whose frame poses are expressed.
        tool: The link whose pose is controlled.
        joints: Names of the moving joints, from the base link to the tool.
        coordinates: Their indices among the robot's moving joints, shape (joints,).
        held: Positions of all moving joints of the robot at which the others are fixed:
            the catalogue's home pose, or zero [rad or m], shape (moving joints,).
        arrays: The chain as arrays for kernels.
    """

    model: RobotModel
    base_link: str
    tool: str
    joints: tuple[str, ...]
    coordinates: NDArray[np.int64]
    held: Array
    arrays: ChainArrays

    def whole(self, q: Array) -> Array:
        """Put the chain's positions, shape (..., joints), among those of all moving joints."""
        positions = np.empty((*q.shape[:-1], len(self.held)))
        positions[...] = self.held
        positions[..., self.coordinates] = q
        return positions


def serial_chain(
    model: RobotModel, *, base_link: str | None = None, tool: str | None = None
) -> SerialChain:
    """Find the chain of joints from a base link to a tool link.

    Args:
        base_link: The link in whose frame poses are expressed; if None, the base of the
            robot in the catalogue, or the root link.
        tool: The link whose pose is controlled; if None, the flange of the robot in the
            catalogue, or the only link at the end of moving joints.

    Returns:
        The chain.

    Raises:
        UnknownNameError: If the robot has no link of a given name.
        KinetariumError: If there is no chain, or its joints are coupled.
    """
    entry = catalogue_entry(model.source.file) if model.source.file in catalogue_names() else None
    base_link = model.link(base_link or (entry.base if entry else model.root)).name
    tool = model.link(tool or (entry.flange if entry else "") or _only_end(model)).name
    path = _path(model, base_link=base_link, tool=tool)
    moving = [joint for joint in path if joint.type is not JointType.FIXED]
    if not moving:
        raise KinetariumError(f"no joint of {model.name} moves '{tool}' against '{base_link}'")
    _refuse_dependent(model, moving)

    frames = [pose()]
    for joint in path:
        frames[-1] = frames[-1] @ joint.X_PJ
        if joint.type is not JointType.FIXED:
            R_JZ = rotation_onto(joint.axis)
            frames[-1] = frames[-1] @ pose(rotation=R_JZ)
            frames.append(pose(rotation=R_JZ.T))
    names = [joint.name for joint in model.moving_joints]
    coordinates = np.array([names.index(joint.name) for joint in moving])
    arrays = ChainArrays(
        np.ascontiguousarray([X[:3] for X in frames]),
        np.array([joint.type is JointType.PRISMATIC for joint in moving]),
        np.array([joint.limits.lower for joint in moving]),
        np.array([joint.limits.upper for joint in moving]),
        np.array([_middle(joint) for joint in moving]),
    )
    joints = tuple(joint.name for joint in moving)
    return SerialChain(model, base_link, tool, joints, coordinates, _held(model, entry), arrays)


def ranges(chain: ChainArrays) -> tuple[Array, Array]:
    """Return finite joint limits: at most half a turn or a metre from the middle.

    A limit that is farther away excludes no pose.
    """
    span = np.where(chain.prismatic, 1.0, pi)
    span = np.where(np.isfinite(chain.upper - chain.lower) & chain.prismatic, np.inf, span)
    lower = np.maximum(chain.lower, chain.middle - span)
    return lower, np.minimum(chain.upper, chain.middle + span)


def moving_ends(model: RobotModel) -> list[str]:
    """Return the links at the ends of branches with moving joints."""
    parents = {joint.parent for joint in model.joints}
    ends = [link.name for link in model.links if link.name not in parents]
    return [end for end in ends if any(j.type is not JointType.FIXED for j in _above(model, end))]


def _only_end(model: RobotModel) -> str:
    """Return the only link at the end of a branch with moving joints."""
    moved = moving_ends(model)
    if len(moved) == 1:
        return moved[0]
    choices = f"choose one of {', '.join(moved)}" if moved else "no joint moves any of its links"
    raise KinetariumError(f"{model.name} needs a tool link: {choices}")


def _above(model: RobotModel, link: str) -> list[Joint]:
    """Return the joints between a link and the root, the nearest first."""
    joints = []
    while link in model.parent_joint:
        joints.append(model.parent_joint[link])
        link = joints[-1].parent
    return joints


def _path(model: RobotModel, *, base_link: str, tool: str) -> list[Joint]:
    """Return the joints from the base link down to the tool."""
    path = []
    for joint in _above(model, tool):
        path.append(joint)
        if joint.parent == base_link:
            return path[::-1]
    if tool == base_link:
        return []
    raise KinetariumError(
        f"{model.name} has no chain from '{base_link}' to '{tool}': "
        f"'{tool}' is below {', '.join(repr(joint.parent) for joint in path) or 'no link'}"
    )


def _refuse_dependent(model: RobotModel, moving: list[Joint]) -> None:
    """Refuse a chain in which a joint follows another or a loop is closed."""
    for joint in moving:
        if joint.mimic:
            raise KinetariumError(
                f"joint '{joint.name}' in the chain of {model.name} follows "
                f"'{joint.mimic.joint}': inverse kinematics needs independent joints"
            )
    for loop in model.loops:
        for link in (loop.link_a, loop.link_b):
            if any(joint in moving for joint in _above(model, link)):
                raise KinetariumError(
                    f"loop '{loop.name}' of {model.name} constrains '{link}', which the chain "
                    "moves: inverse kinematics needs independent joints"
                )


def _middle(joint: Joint) -> float:
    lower, upper = joint.limits.lower, joint.limits.upper
    if isfinite(lower) and isfinite(upper):
        return (lower + upper) / 2
    reach = 1.0 if joint.type is JointType.PRISMATIC else pi
    return lower + reach if isfinite(lower) else upper - reach if isfinite(upper) else 0.0


def _held(model: RobotModel, entry: CatalogueEntry | None) -> Array:
    home = entry.home if entry else {}
    return frozen(
        [
            min(max(home.get(joint.name, 0.0), joint.limits.lower), joint.limits.upper)
            for joint in model.moving_joints
        ]
    )


def link_frames(chain: ChainArrays, q: Array) -> Array:
    """Return the poses of the base link's frame, the joints' and the tool's."""
    X = pose()
    places = [X]
    for i, position in enumerate(q):
        along = np.array([0.0, 0.0, position])
        motion = pose(along) if chain.prismatic[i] else pose(rotation=so3.exp(along))
        X = X @ np.vstack([chain.frames[i], [0, 0, 0, 1]]) @ motion
        places.append(X)
    return np.array([*places, X @ np.vstack([chain.frames[-1], [0, 0, 0, 1]])])
