"""pydrake, the parts of it that are used, kept from writing to the terminal."""

import locale
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from math import inf, isinf
from pathlib import Path
from typing import Any

from kinetarium.engines.protocol import NotComparableError, RobotAsRead
from kinetarium.errors import KinetariumError, one_line
from kinetarium.model.inertia import moved_inertia
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    RobotModel,
    Source,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose

_UTF8_LOCALES = ("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8")
"""Names under which systems have UTF-8; every one has at least one of them."""


@contextmanager
def _reading_utf8() -> Iterator[None]:
    """Make UTF-8 the encoding of files for a moment.

    A part of pydrake's own sources, which are UTF-8, is read in the locale's encoding; where
    that is ASCII, as with LC_ALL=C, pydrake would not load.
    """
    before = locale.setlocale(locale.LC_CTYPE)
    for name in _UTF8_LOCALES if locale.getencoding().lower() != "utf-8" else ():
        with suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            break
    try:
        yield
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


with _reading_utf8():
    framework: Any = import_module("pydrake.systems.framework")
    geometry: Any = import_module("pydrake.geometry")
    math: Any = import_module("pydrake.math")
    plants: Any = import_module("pydrake.multibody.plant")
    spatial: Any = import_module("pydrake.multibody.math")
    trees: Any = import_module("pydrake.multibody.tree")

logging.getLogger("drake").setLevel(logging.ERROR)  # its warnings are about other uses


def drake_pose(X: Array) -> Any:
    """Return a homogeneous transform, shape (4, 4), as Drake's own.

    Products of rotations that have lost a few digits are made orthonormal again.
    """
    return math.RigidTransform(math.RotationMatrix.ProjectToRotationMatrix(X[:3, :3]), X[:3, 3])


def drake_inertia(inertia: Inertia | None) -> Any:
    """Return mass properties as Drake's own; none for a massless frame."""
    if inertia is None:
        return trees.SpatialInertia.Zero()
    I = inertia.moment  # noqa: E741
    return trees.SpatialInertia.MakeFromCentralInertia(
        inertia.mass,
        inertia.center,
        trees.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
    )


_WORLD = "world"
_TYPES = {
    "weld": JointType.FIXED,
    "revolute": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
}


def read_robot(file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
    """Read the robot that Drake's parser makes of a URDF or MJCF file.

    Couplings are counted: Drake does not tell their numbers.

    Raises:
        KinetariumError: If Drake refuses the file.
    """
    parsing = import_module("pydrake.multibody.parsing")
    plant = plants.MultibodyPlant(time_step=1e-3)  # couplings need discrete time
    parser = parsing.Parser(plant)
    for folder in packages:
        parser.package_map().PopulateFromFolder(str(folder))
    try:
        instances = parser.AddModels(str(file))
    except (RuntimeError, ValueError) as error:
        raise KinetariumError(one_line(str(error))) from None
    if not instances:
        raise KinetariumError("Drake finds no robot in the file")
    bodies = [
        plant.get_body(index) for instance in instances for index in plant.GetBodyIndices(instance)
    ]
    efforts = {
        actuator.joint().name(): actuator.effort_limit()
        for actuator in map(
            plant.get_joint_actuator, map(trees.JointActuatorIndex, range(plant.num_actuators()))
        )
    }
    own = [plant.get_joint(trees.JointIndex(number)) for number in range(plant.num_joints())]
    anchors = {joint.child_body().name(): _anchor(joint) for joint in own}
    joints = [_joint(joint, efforts, anchors) for joint in own]
    links = [
        Link(body.name(), _inertia(body, anchors.get(body.name())))
        for body in bodies
        if body.name() != _WORLD
    ]
    held = {joint.child for joint in joints}
    roots = [link for link in links if link.name not in held]
    if any(joint.parent == _WORLD for joint in joints) or len(roots) != 1:
        links = [Link(_WORLD), *links]
    model = RobotModel(
        plant.GetModelInstanceName(instances[0]),
        tuple(links),
        tuple(joints),
        source=Source(str(file), "urdf", ""),
        free_base=len(roots) == 1,
    )
    return RobotAsRead(model, couplings=plant.num_constraints())


def _anchor(joint: Any) -> Array:
    """Return the pose X_LB of the child body in a frame at the joint, shape (4, 4)."""
    return inverse_pose(pose(joint.frame_on_child().GetFixedPoseInBodyFrame().translation()))


def _inertia(body: Any, X_LB: Array | None) -> Inertia | None:
    M_BBo = body.default_spatial_inertia()
    if not M_BBo.get_mass():
        return None
    center = M_BBo.get_com()
    central = M_BBo.Shift(center).CalcRotationalInertia().CopyToFullMatrix3()
    inertia = Inertia(M_BBo.get_mass(), frozen(center), frozen(central))
    return inertia if X_LB is None else moved_inertia(inertia, X_LB)


def _joint(joint: Any, efforts: dict[str, float], anchors: dict[str, Array]) -> Joint:
    kind = joint.type_name()
    if kind not in _TYPES:
        raise NotComparableError(f"joint {joint.name()} is {kind}, which no model has")
    above, below = (
        frame.GetFixedPoseInBodyFrame().GetAsMatrix4()
        for frame in (joint.frame_on_parent(), joint.frame_on_child())
    )
    links = (joint.parent_body().name(), joint.child_body().name())
    held = joint.X_FM().GetAsMatrix4() if kind == "weld" else pose()
    X_PJ = anchors.get(links[0], pose()) @ above @ held @ pose(rotation=below[:3, :3].T)
    if kind == "weld":
        return Joint(joint.name(), JointType.FIXED, *links, X_PJ=frozen(X_PJ))
    lower, upper = (
        float(limits[0])
        for limits in (joint.position_lower_limits(), joint.position_upper_limits())
    )
    turns = kind == "revolute"
    free = turns and isinf(lower) and isinf(upper)
    axis = joint.revolute_axis() if turns else joint.translation_axis()
    return Joint(
        joint.name(),
        JointType.CONTINUOUS if free else _TYPES[kind],
        *links,
        X_PJ=frozen(X_PJ),
        axis=frozen(below[:3, :3] @ axis),
        limits=JointLimits(
            lower,
            upper,
            float(joint.velocity_upper_limits()[0]),
            efforts.get(joint.name(), inf),
        ),
        damping=float(joint.default_damping()),
    )
