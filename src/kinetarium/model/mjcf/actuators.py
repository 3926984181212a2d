"""Actuators, of which the joints keep the largest effort and what the drive adds to them."""

from collections.abc import Sequence
from dataclasses import replace

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.bodies import BodyReader
from kinetarium.model.mjcf.joints import largest, linear_damping
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.tree import Located

_GEARS = 6
_TARGETS = ("joint", "jointinparent", "tendon", "site", "body", "cranksite")


def read_actuators(sections: Sequence[Element], *, scope: Scope, bodies: BodyReader) -> None:
    """Bound the efforts of joints by what their actuators can give together.

    Args:
        sections: The <actuator> sections.
        scope: The file being read.
        bodies: The joints, whose limits, damping and armature are changed.
    """
    efforts: dict[str, float] = {}
    for written in (child for section in sections for child in section.children):
        with scope.origins.at(written):
            element = scope.defaults.complete(written)
            scope.left_out.add("actuator", element.line)
            target = _target(element, scope)
            name = element.attributes[target]
            if target not in ("joint", "jointinparent") or name in bodies.free_joints:
                _refuse_drive(element, scope)
                continue
            if name not in bodies.references:
                raise scope.unknown(element, "joint", name, known=bodies.references)
            gear = _gear(element, scope)
            force = _force(element, scope)
            # A gear of zero gives nothing, however strong the actuator is.
            efforts[name] = efforts.get(name, 0.0) + (gear * force if gear else 0.0)
            _add_drive(element, name, gear, scope=scope, bodies=bodies)
    for name, effort in efforts.items():
        located = bodies.joints[name]
        limits = located.item.limits
        limits = replace(limits, effort=min(limits.effort, effort))
        bodies.joints[name] = replace(located, item=replace(located.item, limits=limits))


def _target(element: Element, scope: Scope) -> str:
    """Give the attribute that names what an actuator acts on."""
    targets = [name for name in _TARGETS if name in element.attributes]
    if len(targets) == 1:
        return targets[0]
    raise scope.refusal(
        Code.BAD_VALUE if targets else Code.MISSING_ATTRIBUTE,
        f"{element} acts on {' and '.join(targets) or 'nothing'}",
        element,
        remedy=f"name one thing by one of {', '.join(_TARGETS)}",
    )


def _gear(element: Element, scope: Scope) -> float:
    """Give the ratio between the force of an actuator and the effort at its joint."""
    if "gear" not in element.attributes:
        return 1.0
    gears = scope.reading.attributes.numbers(element, "gear")
    if not 1 <= len(gears) <= _GEARS:
        raise scope.refusal(Code.BAD_NUMBER, f"{element}: gear holds {len(gears)} numbers", element)
    return abs(gears[0])


def _force(element: Element, scope: Scope) -> float:
    """Give the largest force of an actuator; that of a motor is also bounded by its input."""
    force = scope.interval(element, limited="forcelimited", bounds="forcerange")
    control = scope.interval(element, limited="ctrllimited", bounds="ctrlrange")
    strongest = largest(force, element, scope=scope)
    if element.tag == "motor":
        strongest = min(strongest, largest(control, element, scope=scope))
    return strongest


def _refuse_drive(element: Element, scope: Scope) -> None:
    """Refuse armature and damping of a drive that acts on something else than one joint."""
    for name in ("armature", "damping"):
        if name in element.attributes and any(scope.reading.attributes.numbers(element, name)):
            raise scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: {name} of an actuator is supported at a hinge or slide only",
                element,
                remedy=f"give the joints {name} instead",
            )


def _add_drive(
    element: Element, joint: str, gear: float, *, scope: Scope, bodies: BodyReader
) -> None:
    """Add the armature and damping of an actuator to its joint, where the gear acts twice."""
    armature = gear**2 * scope.not_negative(element, "armature")
    damping = gear**2 * linear_damping(element, scope)
    located = bodies.joints[joint]
    item = replace(
        located.item,
        armature=located.item.armature + armature,
        damping=located.item.damping + damping,
    )
    bodies.joints[joint] = Located(item, located.line)
