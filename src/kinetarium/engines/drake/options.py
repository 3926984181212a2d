"""DrakeOptions: what Drake lets a user choose, with defaults that are fair to compare."""

from dataclasses import dataclass
from enum import StrEnum

from kinetarium.engines.protocol import FrictionRule

FRICTION_RULE = FrictionRule.GEOMETRIC_MEAN
"""Drake's own rule, the harmonic mean, has no name among the rules; this one lies nearest."""


class Approximation(StrEnum):
    """How contact is made convex, so that it can be solved (Castro et al. 2023)."""

    LAGGED = "lagged"
    """Friction by the normal force that Hunt and Crossley's law has at the start of the step."""
    SIMILAR = "similar"
    """As LAGGED, but what slides is lifted by its speed times friction times the step."""
    SAP = "sap"
    """What slides is lifted in the same way; linear dissipation."""


class ContactModel(StrEnum):
    """Where two shapes touch."""

    SURFACE = "surface"
    """Boxes and meshes over a surface (hydroelastic contact), anything else at one point."""
    POINT = "point"
    """Everything at one point, where the two overlap most; what lies flat is not held level."""


@dataclass(frozen=True, slots=True)
class DrakeOptions:
    """Settings of Drake.

    LAGGED is the default, as what slides under SIMILAR and SAP is lifted: a Husky that turns in
    place skids with a track multiplier of 2.8 instead of 1.54. Its friction rests on the normal
    force k x (1 - d v) at the start of a step, which a foot that is pushed out of the ground after
    an impact at nearly v = 1 / d makes the small difference of large numbers: a hard point with
    much dissipation (k = 1e8, d = 200) then has no friction for a tenth of a second. So points are
    only as hard, and lose only as much, as leaves a robot of more than about 5 kg its friction;
    lighter ones with round feet want SIMILAR. Surfaces are free of this.

    Attributes:
        approximation: How contact is made convex.
        contact_model: Where shapes touch.
        modulus: Pressure of a shape at its innermost, over a surface [Pa].
        stiffness: Of a shape at one point [N/m]; two in touch are half as stiff.
        dissipation: Share of the elastic force that is lost per speed of approach, after Hunt
            and Crossley [s/m].
        relaxation_time: Ratio of damping and stiffness of a contact under SAP [s].
        stiction_speed: Slip at which friction reaches its full force [m/s].
        near_rigid: How soft the solver may make what is too stiff for it [-]; zero for not at all.
        joint_creep: Speed at which the Coulomb friction of a joint reaches its full force
            [rad/s or m/s].
    """

    approximation: Approximation = Approximation.LAGGED
    contact_model: ContactModel = ContactModel.SURFACE
    modulus: float = 1e8
    stiffness: float = 3e5
    dissipation: float = 60.0
    relaxation_time: float = 0.01
    stiction_speed: float = 1e-4
    near_rigid: float = 0.01
    joint_creep: float = 1e-6

    @classmethod
    def stock(cls) -> "DrakeOptions":
        """Return Drake's defaults."""
        return cls(
            contact_model=ContactModel.POINT,
            modulus=1e7,
            stiffness=1e6,
            dissipation=50.0,
            relaxation_time=0.1,
            near_rigid=1.0,
        )

    def with_iterations(self, n: int) -> "DrakeOptions":
        """Return the same: the solver iterates until it has converged."""
        return self
