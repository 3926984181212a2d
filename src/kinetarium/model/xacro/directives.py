"""The attributes of xacro's own elements."""

from collections.abc import Collection

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.xacro.place import Place
from kinetarium.model.xacro.values import did_you_mean, shown


def check_attributes(
    element: Element,
    *,
    required: Collection[str],
    optional: Collection[str] = (),
    place: Place,
) -> None:
    """See that one of xacro's elements has the attributes it needs and no unknown ones.

    Raises:
        RobotFileError: If one is missing or unknown.
    """
    known = [*required, *optional]
    for name in required:
        if name not in element.attributes:
            raise place.refusal(
                Code.MISSING_ATTRIBUTE,
                f"{element} has no attribute {name!r}",
                remedy=f'write {name}="..."',
            )
    for name in element.attributes:
        if name not in known and not name.startswith("xmlns"):
            raise place.refusal(
                Code.MACRO,
                f"{element} has the unknown attribute {shown(name)}{did_you_mean(name, known)}",
                remedy=f"it takes {', '.join(known)}",
            )
