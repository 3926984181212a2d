"""Tendons: left out where they only carry actuators, refused where they bear forces."""

from collections.abc import Sequence

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.scope import Scope

_FORCES = ("stiffness", "damping", "frictionloss", "armature")


def check_tendons(sections: Sequence[Element], *, scope: Scope) -> None:
    """Refuse tendons without which the robot would move differently.

    Args:
        sections: The <tendon> sections.
        scope: The file being read.
    """
    for written in (child for section in sections for child in section.children):
        with scope.origins.at(written):
            element = scope.defaults.complete(written)
            if not written.children:
                raise scope.refusal(
                    Code.MISSING_ELEMENT, f"{element} runs along nothing", element,
                    remedy="name its joints or sites",
                )  # fmt: skip
            bears = any(
                name in element.attributes and any(scope.reading.attributes.numbers(element, name))
                for name in _FORCES
            )
            if bears or scope.interval(element, limited="limited", bounds="range"):
                raise scope.refusal(
                    Code.UNSUPPORTED,
                    f"{element}: tendons with limits, springs, losses or mass are not supported",
                    element,
                    remedy="couple the joints by an equality instead",
                )
            scope.left_out.add("tendon", element.line)
