"""What the docking studies are asked, and single cases of them."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from kinetarium.control.admittance.law import AntiWindup, Form
from kinetarium.ranges import Friction, Range, Seed

Posture = Annotated[
    tuple[float, float, float, float, float, float], Range(-360.0, 360.0, unit="deg")
]

MOST_SEEDS = 10_000
PAYLOAD = Range(0.1, 1e3, unit="kg")
"""What arms of this size carry, and more; each preset has its own limit within."""
DELAY = Range(0.0, 100.0, unit="ms")
"""Many times what any preset bears."""
GATE = Range(0.0, 1e5, unit="N")
"""A gate beyond the wanted force never opens, and the run says so."""


class ForceCase(StrEnum):
    """The wrench that is wanted, as in the paper."""

    A = "A"
    """-500 N along x (Figs. 3 to 5)."""
    B = "B"
    """-200 N along x and z, with K 700 (Fig. 6a)."""
    C = "C"
    """-200 N along x (Figs. 6b and 7)."""


class PresetName(StrEnum):
    """Gains, timing and filter."""

    PAPER = "paper"
    """The paper's gains at 1 kHz."""
    RSI = "rsi"
    """The same gains behind an industrial interface: 250 Hz and 4 ms."""
    GENTLE = "gentle"
    """For 100 kg: the path is frozen at contact and the force comes slowly."""
    RECOMMENDED = "recommended"
    """For 100 kg: stiff gains on the reference."""
    REBOUND = "paper-rebound"
    """The paper's gains on a harder contact, which shows the rebounds of its Fig. 7."""


class Contact(StrEnum):
    """How the satellites touch."""

    PRESCRIBED = "prescribed"
    """A spring and a damper at each vertex of the face, the same in every engine."""
    HUNT_CROSSLEY = "hunt-crossley"
    """A spring that hardens, its damping in proportion to its force."""
    ENGINE = "engine"
    """Whatever the engine makes of two bodies that touch."""


@dataclass(frozen=True, kw_only=True)
class DockConfig:
    """Two arms that dock satellites.

    Attributes:
        case: The wrenches that are wanted.
        preset: Gains, timing and filter.
        engine: The engines; all that are available by default.
        seeds: Runs of each case, each with noise of its own [-].
        contact: How the satellites touch.
        friction: Coulomb's coefficient between the satellites [-].
        payload_kg: Mass of either satellite [kg]; 0 for that of the preset.
        delay_ms: Delay of the set points [ms]; -1 for that of the preset.
        gate: Force that lets the wanted wrench act [N]; 0 for no gate, -1 for that of the
            preset.
        anti_windup: What bounds the impulse of the controller.
        form: How the controller's law is computed; the results are the same.
        start_deg: Joint positions A1 to A6 at the start [deg].
        seed: Seed of the first run's noise.
    """

    case: tuple[ForceCase, ...] = (ForceCase.A,)
    preset: tuple[PresetName, ...] = (PresetName.PAPER,)
    engine: tuple[str, ...] = ()
    seeds: Annotated[int, Range(1, MOST_SEEDS, unit="-")] = 1
    contact: Contact = Contact.PRESCRIBED
    friction: Friction = 0.0
    payload_kg: Annotated[float, replace(PAYLOAD, also=(0.0,))] = 0.0
    delay_ms: Annotated[float, replace(DELAY, also=(-1.0,))] = -1.0
    gate: Annotated[float, replace(GATE, also=(-1.0,))] = -1.0
    anti_windup: AntiWindup = AntiWindup.GATED
    form: Form = Form.REDUCED
    start_deg: Posture = (0.0, -90.0, 130.0, 0.0, -40.0, 0.0)
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class DockCase:
    """One docking in one engine.

    Attributes:
        case: The wrench that is wanted.
        preset: Gains, timing and filter.
        engine: The engine.
        seed: Seed of the noise.
        contact: How the satellites touch.
        friction: Coulomb's coefficient between the satellites [-].
        payload_kg: Mass of either satellite [kg].
        delay_ms: Delay of the set points [ms].
        gate: Force that lets the wanted wrench act [N]; 0 for no gate.
        anti_windup: What bounds the impulse of the controller.
        start_deg: Joint positions A1 to A6 at the start [deg].
        form: How the controller's law is computed; the results are the same.
    """

    case: ForceCase
    preset: PresetName
    engine: str
    seed: Annotated[int, Range(0, 2**32 + MOST_SEEDS, unit="-")]
    contact: Contact
    friction: Friction
    payload_kg: Annotated[float, PAYLOAD]
    delay_ms: Annotated[float, DELAY]
    gate: Annotated[float, GATE]
    anti_windup: AntiWindup
    start_deg: Posture
    # Runs that were kept before there was a choice do not say it.
    form: Form = Form.REDUCED
