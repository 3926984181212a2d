"""Frames worked into what stands in them."""

from collections.abc import Iterator
from dataclasses import dataclass

from kinetarium.model.markup import Element
from kinetarium.model.mjcf.defaults import MAIN
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.robot import IDENTITY
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """An element of a body, taken out of the frames it stands in.

    Attributes:
        element: The element.
        X_BF: Pose of the innermost frame around it in the body, shape (4, 4).
        child_class: The default class that holds there.
    """

    element: Element
    X_BF: Array
    child_class: str


def parts_of(
    element: Element, *, scope: Scope, child_class: str = MAIN, X: Array = IDENTITY
) -> Iterator[Part]:
    """Give what stands in a body or the world.

    Args:
        element: The body, the world, or a frame in them.
        scope: The file being read.
        child_class: The default class that holds around the element.
        X: Pose of the element in the body, shape (4, 4).

    Raises:
        RobotFileError: If a frame is not strictly right.
    """
    name = element.attributes.get("childclass", child_class)
    scope.defaults.check(name, element)
    for child in element.children:
        if child.tag == "frame":
            inner = X @ scope.pose(child)
            yield from parts_of(child, scope=scope, child_class=name, X=inner)
        else:
            yield Part(child, X, name)
