"""What a surface is like to touch."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Material:
    """A surface.

    Two surfaces of equal friction have that friction between them in every
    engine; unequal ones are combined by the rule the engine declares.

    Attributes:
        friction: Coulomb coefficient [-].
        restitution: Share of the normal speed returned by an impact [-].
    """

    friction: float = 0.8
    restitution: float = 0.0


DRY = Material()
"""An ordinary dry surface that does not bounce."""
