"""Inertias of bodies: written or from their geoms, with MuJoCo's lower bounds."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetarium.model.attributes import MOST_MAGNITUDE
from kinetarium.model.diagnostics import Code
from kinetarium.model.inertia import checked_inertia, combined_inertia, moved_inertia
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import ORIENTATIONS, Compiler, InertiaSource
from kinetarium.model.mjcf.document import MjcfDocument, PlacedElement
from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import frozen


def bounded_inertia(inertia: Inertia, compiler: Compiler) -> Inertia:
    """Apply the compiler's least mass, least moment and balancing, in MuJoCo's order."""
    mass = max(inertia.mass, compiler.least_mass)
    if compiler.least_moment <= 0 and not compiler.balance_inertia:
        return replace(inertia, mass=mass)
    values, axes = np.linalg.eigh(inertia.moment)
    values = np.maximum(values, compiler.least_moment)
    if compiler.balance_inertia and values[0] + values[1] < values[2]:
        values = np.full(3, values.mean())
    return Inertia(mass, inertia.center, frozen(axes @ np.diag(values) @ axes.T))


_LEAST_MASS = 1e-15
"""Masses up to this count as zero in MuJoCo [kg]."""


def geoms_bring_mass(parts: Sequence[PlacedElement], document: MjcfDocument) -> bool:
    """Return whether the mass of a body, given its elements, comes from its geoms."""
    source = document.compiler.inertia_source
    if source is not InertiaSource.WHERE_MISSING:
        return source is InertiaSource.ALWAYS
    return not any(placed.element.tag == "inertial" for placed in parts)


def body_inertia(
    name: str,
    parts: Sequence[PlacedElement],
    *,
    weighed: Sequence[Inertia],
    body: Element,
    document: MjcfDocument,
) -> Inertia | None:
    """Return the checked inertia of a body in its own frame.

    Args:
        weighed: The inertias of the geoms that count for its mass.

    Returns:
        The inertia; None for a massless body.
    """
    inertials = [placed for placed in parts if placed.element.tag == "inertial"]
    if len(inertials) > 1:
        raise document.diagnostics.refusal(
            Code.DUPLICATE_ELEMENT,
            f"body {name!r} has {len(inertials)} <inertial>",
            line=inertials[1].element.line,
            remedy="keep one",
        )
    inertia, line = combined_inertia(weighed), body.line
    # Without mass in the geoms the <inertial> applies, whatever the compiler setting.
    if inertials and inertia.mass <= _LEAST_MASS:
        line = inertials[0].element.line
        with document.diagnostics.within(document.diagnostics.file, line):
            _refuse_lost_inertial(inertials[0].element, document)
            inertia = _written_inertia(inertials[0], document)
    elif inertia.mass <= _LEAST_MASS:
        _note_least_mass(name, body, document)
    inertia = bounded_inertia(inertia, document.compiler)
    largest = max(inertia.mass, np.abs(inertia.moment).max(), np.abs(inertia.center).max())
    if not largest <= MOST_MAGNITUDE:
        raise document.diagnostics.refusal(
            Code.MASS,
            f"link {name} has an implausible inertia: {inertia.mass:g} kg, "
            f"{np.abs(inertia.moment).max():g} kg m^2",
            remedy="check the sizes and densities, which are in m and kg/m^3",
            line=line,
        )
    return checked_inertia(
        inertia.mass,
        inertia.center,
        inertia.moment,
        where=f"link {name}",
        line=line,
        diagnostics=document.diagnostics,
    )


def _refuse_lost_inertial(element: Element, document: MjcfDocument) -> None:
    """Refuse an <inertial> that MuJoCo drops when it fuses its body with one that has geoms."""
    if document.compiler.fuse_static and document.compiler.inertia_source is InertiaSource.ALWAYS:
        raise document.diagnostics.refusal(
            Code.UNSUPPORTED,
            f'{element} is dropped by fusestatic with inertiafromgeom="true"',
            remedy='write inertiafromgeom="auto", or remove fusestatic',
        )


def _note_least_mass(name: str, body: Element, document: MjcfDocument) -> None:
    """Record where the least mass of a massless body is, if MuJoCo has it elsewhere."""
    position = document.reading.attributes.vector(body, "pos", 3, default=(0.0, 0.0, 0.0))
    if document.compiler.least_mass > 0 and np.any(position):
        document.diagnostics.repair(
            Code.MASS,
            f"link {name}",
            f"massless: {document.compiler.least_mass:g} kg (boundmass) put at its origin; MuJoCo "
            "puts it as far from there as the body is from its parent",
            line=body.line,
        )


def _written_inertia(placed: PlacedElement, document: MjcfDocument) -> Inertia:
    element, attributes = placed.element, document.reading.attributes
    attributes.vector(element, "pos", 3)
    attributes.number(element, "mass")
    full = "fullinertia" in element.attributes
    if full and any(name in element.attributes for name in (*ORIENTATIONS, "diaginertia")):
        raise document.diagnostics.refusal(
            Code.BAD_VALUE, f"{element}: fullinertia takes neither an orientation nor diaginertia"
        )
    if full:
        xx, yy, zz, xy, xz, yz = attributes.vector(element, "fullinertia", 6)
        moment = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        moment = np.diag(attributes.vector(element, "diaginertia", 3, default=(0.0, 0.0, 0.0)))
    mass = document.reading.attributes.not_negative(element, "mass", code=Code.MASS)
    inertia = Inertia(mass, frozen(np.zeros(3)), frozen(moment))
    return moved_inertia(inertia, placed.X_BF @ document.pose(element))
