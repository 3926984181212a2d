"""Materials, of which the plain colour is kept."""

from collections.abc import Sequence

import numpy as np

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.scope import Scope

Color = tuple[float, float, float, float]

_UNPAINTED = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's colour of a geom that has none; only another one overrides the material's."""


class Materials:
    """The colours of the materials of one file."""

    def __init__(self, sections: Sequence[Element], *, scope: Scope) -> None:
        """Read the materials of all <asset> sections."""
        self._scope = scope
        self._colors: dict[str, Color | None] = {}
        for element in (child for section in sections for child in section.all("material")):
            with scope.origins.at(element):
                name = scope.reading.attributes.name(element)
                self._colors[name] = self._own_color(scope.defaults.complete(element))

    def color(self, geom: Element, *, fallback: str = "") -> Color | None:
        """Give the colour of a geom; None for the viewer's choice.

        Args:
            geom: The geom, with its defaults.
            fallback: The material that its mesh brings along.
        """
        own = self._own_color(geom)
        if own is not None and own != _UNPAINTED:
            return own
        name = geom.attributes.get("material", fallback)
        if name and name not in self._colors:
            self._scope.findings.repair(
                Code.UNKNOWN_NAME, f"<{geom.tag}>", f"no material {name!r}: no colour taken",
                line=geom.line,
            )  # fmt: skip
            self._colors[name] = None
        return self._colors.get(name, own)

    def _own_color(self, element: Element) -> Color | None:
        if "rgba" not in element.attributes:
            return None
        values = self._scope.reading.attributes.vector(element, "rgba", 4)
        r, g, b, a = np.clip(values, 0.0, 1.0)
        return (float(r), float(g), float(b), float(a))
