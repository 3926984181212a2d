"""Report of the slide study: friction over the direction, and how high boxes hop."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from kinetarium.batch.outcomes import Outcomes, case_labels
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Lines, Mark, Series
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Cell, Column, Table, header
from kinetarium.recording.recording import Recording, RunStatus
from kinetarium.studies.slide import Case, Profile
from kinetarium.studies.slide.run import scene

_LEAD = (
    "Boxes at rest are set sliding at once, each in another direction. Coulomb's law brakes all of"
    " them with friction times gravity, along a straight line and without leaving the ground. A"
    " friction pyramid along two fixed directions brakes up to sqrt(2) times as hard between them"
    " (1 / sqrt(2) if it is inscribed in the cone), and turns the path towards its edges."
)
EVEN = 0.05
"""Relative difference up to which friction counts as the same in every direction [-]: what
coefficients measured on real surfaces scatter by at least."""
HOP = 1e-3
"""Rise above which a box counts as hopping [m]: more than contacts give way at rest."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Compare all boxes with Coulomb's law."""
    results = Outcomes(outcomes)
    groups = list(results.by("profile", "engine").values())
    sections = [_profile_section(part, profile) for (profile,), part in _scored(results)]
    summary = {
        "groups": [
            {"profile": case.profile, "engine": case.engine, "failed": _failed(group),
             "uneven": _uneven(group), "hop_m": _hop(group)}
            for group in groups for case in (next(iter(group)).case,)
        ]
    }  # fmt: skip
    return Findings(
        _headline(groups, results.distinct("speed")),
        tuple(sections),
        summary,
        lead=_LEAD,
        conclusion=" ".join(
            _conclusion(profile, part) for (profile,), part in results.by("profile").items()
        ),
    )


def replay(case: Case, recording: Recording) -> Replay:
    """Return the sliding boxes as a replay."""
    return scene_replay(scene(case), recording)


def _scored(results: Outcomes[Case]) -> list[tuple[tuple[Profile], Outcomes[Case]]]:
    parts = results.by("profile").items()
    return [((profile,), part) for (profile,), part in parts if part.rows]


def _failed(group: Outcomes[Case]) -> int:
    return sum(outcome.status is not RunStatus.COMPLETED for outcome in group)


def _ratios(group: Outcomes[Case], angle: float | None = None) -> list[float]:
    return [
        row["deceleration_ratio"]
        for row in group.rows
        if row["deceleration_ratio"] is not None and angle in (None, row["angle_deg"])
    ]


def _uneven(group: Outcomes[Case]) -> float | None:
    """Return the greatest relative difference from Coulomb's law [-]; None if nothing slid."""
    away = [abs(ratio - 1) for ratio in _ratios(group)]
    return max(away, default=None)


def _hop(group: Outcomes[Case]) -> float | None:
    return max(group.values("hop_m"), default=None)


def _kind(group: Outcomes[Case]) -> str:
    """Name the law of friction that the ratios show."""
    away = _uneven(group)
    if away is None or _failed(group):
        return "did not complete"
    if any(row["deceleration_ratio"] is None for row in group.rows):
        return "does not brake"
    across, along = _ratios(group, 45.0), _ratios(group, 0.0)
    if away <= EVEN:
        return "cone"
    for factor, side in ((sqrt(2), "around"), (sqrt(0.5), "inside")):
        if across and along and all(abs(r / factor - 1) <= EVEN for r in across):
            return f"pyramid {side} the cone"
    return "neither"


def _headline(groups: Sequence[Outcomes[Case]], speeds: Sequence[float]) -> Table:
    columns = (
        *header("profile | engine | friction is a | runs | at 0° | at 45° | greatest difference"),
        Column("deflection", "deg"),
        *(Column(f"hop at {speed:g} m/s", "mm") for speed in speeds),
    )
    rows = []
    for group in groups:
        case = next(iter(group)).case
        deflections = group.values("deflection_deg")
        hops: list[Cell] = []
        for speed in speeds:
            highest = _hop(group.of(speed=speed))
            hops.append(None if highest is None else 1e3 * highest)
        rows.append(
            (
                case.profile.value,
                case.engine,
                _kind(group),
                f"{len(group) - _failed(group)}/{len(group)}",
                _extreme(_ratios(group, 0.0)),
                _extreme(_ratios(group, 45.0)),
                _uneven(group),
                max(deflections, default=None),
                *hops,
            )
        )
    return Table("Deceleration over friction times gravity", columns, tuple(rows), verdict=2)


def _extreme(ratios: Sequence[float]) -> float | None:
    """Return the ratio that differs most from one."""
    return max(ratios, key=lambda ratio: abs(ratio - 1), default=None)


def _profile_section(part: Outcomes[Case], profile: Profile) -> Section:
    first = [outcome for outcome in part if outcome.case.start == 0 and outcome.rows]
    fastest = max((outcome.case.speed for outcome in first), default=0.0)
    shown = [outcome for outcome in first if outcome.case.speed == fastest]
    braking = tuple(
        Series(
            label,
            np.array([row["angle_deg"] for row in outcome.rows]),
            np.array([row["deceleration_ratio"] or np.nan for row in outcome.rows]),
        )
        for label, outcome in zip(_labels(shown), shown, strict=True)
    )
    hops = tuple(
        Series(
            engine,
            np.array([outcome.case.speed for outcome in group]),
            np.array([1e3 * max(row["hop_m"] for row in outcome.rows) for outcome in group]),
        )
        for (engine,), group in Outcomes(first).by("engine").items()
    )
    return Section(
        f"Profile {profile.value}",
        (
            Lines(
                "Deceleration over the direction",
                Axis("direction of motion", "deg"),
                Axis("deceleration over friction times gravity"),
                braking,
                caption=f"At {fastest:g} m/s. A cone is a line at 1.",
                marks=(Mark(1.0, "Coulomb"),),
            ),
            Lines(
                "Hop over the speed",
                Axis("initial speed", "m/s"),
                Axis("rise of the centre", "mm"),
                hops,
                caption="The highest of all directions.",
            ),
        ),
    )


def _labels(outcomes: Sequence[Outcome[Case]]) -> list[str]:
    return case_labels([outcome.case for outcome in outcomes])


def _conclusion(profile: Profile, part: Outcomes[Case]) -> str:
    kinds: dict[str, list[str]] = {}
    for (engine,), group in part.by("engine").items():
        kinds.setdefault(_kind(group), []).append(_told(engine, group))
    listed = "; ".join(f"{kind}: {', '.join(engines)}" for kind, engines in kinds.items())
    hopping = [
        f"{engine} {1e3 * hop:.2g} mm"
        for (engine,), group in part.by("engine").items()
        if (hop := _hop(group)) is not None and hop > HOP
    ]
    hops = f" Boxes hop in {', '.join(hopping)}." if hopping else " No box hops by 1 mm."
    return f"Friction ({profile.value}): {listed}.{hops}"


def _told(engine: str, group: Outcomes[Case]) -> str:
    across = _extreme(_ratios(group, 45.0))
    failed = _failed(group)
    words = f"{engine} {across:.3f}" if across is not None else engine
    return f"{words} ({failed} of {len(group)} failed)" if failed else words
