"""What earlier versions of MuJoCo and Bullet's reader accept beyond the format, read as repairs.

Only what has one meaning is accepted; anything else is left for the check of the vocabulary.
"""

from collections.abc import Iterator

from kinetarium.model.diagnostics import Allowance, Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import InertiaSource
from kinetarium.model.mjcf.references import NAMES_ONLY, named_elements
from kinetarium.model.reading import Reading

FORMER = {
    "option": ("collision", "mpr_iterations", "mpr_tolerance", "apirate"),
    "flag": ("sensornoise", "passive"),
    "compiler": ("convexhull",),
}
"""Attributes of MuJoCo 2.3.3 that 3.17 does not have, and that are not mechanics of a robot."""

_FIXED = "fixed"
_BODIES = ("body", "worldbody", "frame", "replicate")


def accept_dialects(root: Element, *, reading: Reading) -> None:
    """Rewrite what MuJoCo 3.17 refuses and has one meaning, and list each as a repair.

    Args:
        root: The root of the file with its includes in place, changed in place.
    """
    from_geoms = any(
        section.attributes.get("inertiafromgeom") == InertiaSource.ALWAYS
        for section in root.all("compiler")
    )
    for section in root.children:
        for element in section.walk():
            _drop_former_attributes(element, reading)
            if element.tag in _BODIES:
                _drop_fixed_joints(element, reading)
                if from_geoms:
                    _drop_unused_inertial(element, reading)
    if Allowance.DUPLICATE_NAMES in reading.diagnostics.allow:
        _drop_duplicates(root, reading)


def _drop_former_attributes(element: Element, reading: Reading) -> None:
    for name in FORMER.get(element.tag, ()):
        if element.attributes.pop(name, None) is not None:
            with reading.diagnostics.at(element):
                reading.diagnostics.repair(
                    Code.UNKNOWN_ELEMENT,
                    element.tag,
                    f"{name} omitted: an attribute of earlier versions of MuJoCo",
                    line=element.line,
                )


def _drop_fixed_joints(body: Element, reading: Reading) -> None:
    """Remove joints of the type "fixed", which Bullet reads: a body without a joint is fixed."""
    for joint in body.all("joint"):
        if joint.attributes.get("type") == _FIXED:
            _remove(joint, body)
            with reading.diagnostics.at(joint):
                reading.diagnostics.repair(
                    Code.JOINT_TYPE,
                    str(joint),
                    "omitted: its type 'fixed' means no joint",
                    line=joint.line,
                )


def _drop_unused_inertial(body: Element, reading: Reading) -> None:
    """Remove an <inertial> without pos, if the mass of its body comes from geoms."""
    for inertial in body.all("inertial"):
        if "pos" not in inertial.attributes and body.all("geom"):
            _remove(inertial, body)
            with reading.diagnostics.at(inertial):
                reading.diagnostics.repair(
                    Code.MISSING_ATTRIBUTE,
                    f"inertial of {body}",
                    'omitted: it has no pos, and masses come from geoms (inertiafromgeom="true")',
                    line=inertial.line,
                )


def _remove(child: Element, parent: Element) -> None:
    parent.children = [each for each in parent.children if each is not child]


def _drop_duplicates(root: Element, reading: Reading) -> None:
    """Keep the first of textures and materials of one name, and the name of the first geom."""
    for kind, element in _duplicates(root):
        with reading.diagnostics.at(element):
            if kind == "geom":
                name = element.attributes.pop("name")
                what = "its name, which another geom has, omitted"
            else:
                name = element.attributes["name"]
                what = "omitted: another has its name"
                for section in root.all("asset"):
                    _remove(element, section)
            reading.diagnostics.repair(
                Code.DUPLICATE_NAME, f"{kind} {name}", what, line=element.line
            )


def _duplicates(root: Element) -> Iterator[tuple[str, Element]]:
    known = set[tuple[str, str]]()
    for kind, element in list(named_elements(root)):
        named = kind, element.attributes["name"]
        if kind in NAMES_ONLY and named in known:
            yield kind, element
        known.add(named)
