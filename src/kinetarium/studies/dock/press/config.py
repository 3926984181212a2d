"""Config and case of the docking study."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from kinetarium.control.admittance.law import AntiWindup, Form
from kinetarium.ranges import Friction, Range, Seed
from kinetarium.roles.options import RoleOptions

Posture = Annotated[tuple[float, ...], Range(-360.0, 360.0, unit="deg or m")]

KR250 = "kr250"
"""The arm of the paper."""

MOST_SEEDS = 10_000
PAYLOAD = Range(0.1, 1e3, unit="kg")
"""More than arms of this size carry; each preset has its own limit."""
DELAY = Range(0.0, 100.0, unit="ms")
"""Many times the delay that any preset tolerates."""
STIFFNESS = Range(1e2, 1e8, unit="N/m")
"""From a foam to steel faces."""
DAMPING = Range(0.0, 1e6, unit="N s/m")
"""Above it the contact is rigid within a step."""
GATE = Range(0.0, 1e5, unit="N")
"""A gate above the desired force never opens, which the run reports."""

WRENCHES = Range(-1e5, 1e5, unit="N or N m")
GAINS = Range(-1e7, 1e7, unit="SI")
"""Matrices may have negative entries; signs are checked with the gains."""
SPEED = Range(1e-3, 0.2, unit="m/s")
"""Faster ones are impacts, not dockings."""
MOMENT_BAND = Range(1e-3, 1e3, unit="N m", also=(0.0,))
TANK = Range(0.0, 1e3, unit="J", also=(-1.0,))
MISALIGNMENT = (Range(-0.25, 0.25, unit="m"), Range(-0.35, 0.35, unit="rad"))


class ForceCase(StrEnum):
    """The desired contact wrench, as in the paper."""

    A = "A"
    """-500 N along x (Figs. 3 to 5)."""
    B = "B"
    """-200 N along x and z, with K 700 (Fig. 6a)."""
    C = "C"
    """-200 N along x (Figs. 6b and 7)."""
    FREE = "free"
    """That of --wrench."""


class PresetName(StrEnum):
    """Gains, control rate and filter."""

    PAPER = "paper"
    """The paper's gains at 1 kHz."""
    RSI = "rsi"
    """The same gains behind an industrial interface: 250 Hz and 4 ms."""
    GENTLE = "gentle"
    """For 100 kg: the path is frozen at contact and the force is ramped up slowly."""
    RECOMMENDED = "recommended"
    """For 100 kg: stiff gains on the reference."""
    REBOUND = "paper-rebound"
    """The paper's gains on a stiffer contact, which shows the rebounds of its Fig. 7."""


class Contact(StrEnum):
    """The contact model between the satellites."""

    PRESCRIBED = "prescribed"
    """A spring and a damper at each vertex of the face, the same in every engine."""
    HUNT_CROSSLEY = "hunt-crossley"
    """A hardening spring, with damping proportional to its force."""
    FACE = "face"
    """Elastic faces with edges and friction that sticks, the same in every engine."""
    PROBE = "probe-cone"
    """A probe that a cone guides into a socket with a latch, the same in every engine."""
    ENGINE = "engine"
    """The engine's own contact model."""


@dataclass(frozen=True, kw_only=True)
class DockConfig(RoleOptions):
    """Two arms that dock satellites.

    Attributes:
        chaser: Arm that approaches: name of a robot in the catalogue, or a URDF, xacro or MJCF
            file; roles, SRDF and tool are its own.
        target: Arm that it faces; by default that of the chaser.
        case: Desired contact wrenches: A -500 N along x, B -200 N along x and z, C -200 N along x.
        wrench: Desired contact wrench FX FY FZ MX MY MZ on the chaser, in its frame [N, N m],
            instead of a case; FX is negative.
        gains_d: D, instead of the preset's [kg, kg m^2]: one number, two (forces and moments), six,
            or the 36 of a matrix, row by row.
        gains_k: K, likewise [N s/m, N m s].
        contact_d: D after contact, likewise: the impedance is switched there.
        contact_k: K after contact, likewise.
        tank: Energy that the switched impedance may add at first [J]; what K dissipates refills it.
            -1 for no tank, and no guarantee.
        misalign: Misalignment X Y Z ROLL PITCH YAW of the target's face, such as 5mm 0 0 2deg 0 0
            [m, rad].
        speed: Speed at contact [m/s]; 0 for the preset's 0.066. Gap and path scale with it.
        moment_band: Deviation of the moment within which a free docking is settled [N m]; 0 for 5 %
            of the desired one. What the noise of the sensor does not allow is refused.
        preset: Gains, control rate and filter.
        engine: Engines to run; all available ones by default.
        seeds: Runs per case, each with different noise [-].
        contact: Contact model between the satellites.
        friction: Coulomb friction coefficient between the satellites [-].
        stiffness: Stiffness of the prescribed contact [N/m]; 0 for the preset's, softer for arms
            that are too light for it.
        damping: Damping of the prescribed contact [N s/m]; -1 in proportion to the stiffness, as in
            the preset.
        payload_kg: Mass of each satellite [kg]; 0 for the preset's.
        delay_ms: Delay of the set points [ms]; -1 for the preset's.
        gate: Contact force above which the desired wrench is applied [N]; 0 for no gate, -1 for the
            preset's.
        anti_windup: How the integral of the controller is bounded.
        form: Formulation of the control law; the results are the same.
        start_deg: Initial joint positions of the chaser [deg or m]; by default the paper's for the
            KR 250, and searched for other arms.
        seed: Seed of the noise of the first run.
    """

    chaser: str = KR250
    target: str = ""
    case: tuple[ForceCase, ...] = (ForceCase.A,)
    wrench: Annotated[tuple[float, ...], WRENCHES] = ()
    gains_d: Annotated[tuple[float, ...], GAINS] = ()
    gains_k: Annotated[tuple[float, ...], GAINS] = ()
    contact_d: Annotated[tuple[float, ...], GAINS] = ()
    contact_k: Annotated[tuple[float, ...], GAINS] = ()
    tank: Annotated[float, TANK] = -1.0
    misalign: tuple[str, ...] = ()
    speed: Annotated[float, replace(SPEED, also=(0.0,))] = 0.0
    moment_band: Annotated[float, MOMENT_BAND] = 0.0
    preset: tuple[PresetName, ...] = (PresetName.PAPER,)
    engine: tuple[str, ...] = ()
    seeds: Annotated[int, Range(1, MOST_SEEDS, unit="-")] = 1
    contact: Contact = Contact.PRESCRIBED
    friction: Friction = 0.0
    stiffness: Annotated[float, replace(STIFFNESS, also=(0.0,))] = 0.0
    damping: Annotated[float, replace(DAMPING, also=(-1.0,))] = -1.0
    payload_kg: Annotated[float, replace(PAYLOAD, also=(0.0,))] = 0.0
    delay_ms: Annotated[float, replace(DELAY, also=(-1.0,))] = -1.0
    gate: Annotated[float, replace(GATE, also=(-1.0,))] = -1.0
    anti_windup: AntiWindup = AntiWindup.GATED
    form: Form = Form.REDUCED
    start_deg: Posture = ()
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class DockCase:
    """One docking in one engine; other values are those of the config, or of its preset.

    Attributes:
        seed: Seed of the noise.
        target: The second arm.
        target_start_deg: Its initial joint positions [deg or m]; empty for those of the chaser.
        reading: How the chaser is read.
        wrench: The desired wrench of a free docking; empty for that of the paper's case.
        gains_d: Its gains D, six or 36; empty for the preset's.
        gains_k: Its gains K, likewise.
        contact_d: D after contact, six or 36; empty if it does not change.
        contact_k: K after contact, likewise.
        tank: Energy of the tank at first [J]; -1 for none.
        misalign: Misalignment of the target's face [m, rad]; empty for none.
        speed: Speed at contact [m/s]; 0 for that of the paper's path.
        moment_band: Deviation of the moment that is settled [N m]; 0 for 5 % of the desired one.
        sha256: Hash of all that was read of the chaser.
        target_sha256: The same of the target.
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
    # Runs of earlier releases do not have these fields.
    form: Form = Form.REDUCED
    stiffness: Annotated[float, replace(STIFFNESS, also=(0.0,))] = 0.0
    damping: Annotated[float, replace(DAMPING, also=(-1.0,))] = -1.0
    chaser: str = KR250
    target: str = KR250
    target_start_deg: Posture = ()
    reading: RoleOptions = field(default_factory=RoleOptions)
    sha256: str = ""
    target_sha256: str = ""
    wrench: Annotated[tuple[float, ...], WRENCHES] = ()
    gains_d: Annotated[tuple[float, ...], GAINS] = ()
    gains_k: Annotated[tuple[float, ...], GAINS] = ()
    contact_d: Annotated[tuple[float, ...], GAINS] = ()
    contact_k: Annotated[tuple[float, ...], GAINS] = ()
    tank: Annotated[float, TANK] = -1.0
    misalign: Annotated[tuple[float, ...], Range(-0.35, 0.35, unit="m or rad")] = ()
    speed: Annotated[float, replace(SPEED, also=(0.0,))] = 0.0
    moment_band: Annotated[float, MOMENT_BAND] = 0.0

    @property
    def is_free(self) -> bool:
        """Whether wrench, gains, alignment or speed are the user's: judged on all six axes."""
        return bool(self.wrench)
