"""What the grasp study shows over time step, iterations and friction, and what it all costs."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from kinetarium.figure.axis import Axis
from kinetarium.figure.line import Lines, Mark, Series, Side
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.prose import Prose
from kinetarium.figure.speed_accuracy import Trial, speed_accuracy
from kinetarium.figure.sweep import Sample, sweep_series
from kinetarium.figure.table import Column, Table
from kinetarium.scene.grasped_cube import CUBE_MASS
from kinetarium.studies.grasp.config import Profile, ToolPath
from kinetarium.studies.grasp.drives import GRIP
from kinetarium.studies.grasp.groups import Group, paths_of

RIGID = "rigid grasp"
LEAST_FRICTION = CUBE_MASS * 9.81 / (2 * GRIP)
"""Friction below which two pads cannot hold the cube's weight (Coulomb) [-]."""
_RATIO = Axis("variance by that of the rigid grasp", log=True)
_LOST = "Medians over the starts; nothing is drawn where a cube was lost."

_Measure = Callable[[Group], float | None]


def sweep_sections(
    profile: Profile, groups: Sequence[Group], varied: Sequence[str]
) -> list[Section]:
    """Draw what was varied within engines, path by path.

    Args:
        profile: The profile of the groups.
        groups: The groups.
        varied: What was varied: "timestep", "iterations" or "friction".
    """
    sections = []
    for path in paths_of(groups):
        on_path = [group for group in groups if group.case.path is path]
        for name, draw in _DRAWN.items():
            if name in varied and (figures := draw(on_path)):
                title = f"Profile '{profile}': over {_SPOKEN[name]}"
                sections.append(Section(title, figures, label=str(path)))
    return sections


def cost_section(profile: Profile, groups: Sequence[Group]) -> Section:
    """Set what engines leave undone against what they cost; a lost cube has no place there."""
    settings: dict[tuple[str, float, int], list[Group]] = {}
    for group in _carried(groups):
        case = group.case
        settings.setdefault((case.engine, case.timestep, case.iterations), []).append(group)
    held = {key: paths for key, paths in settings.items() if all(each.whole for each in paths)}
    figures: list[Figure] = []
    if held:
        figures += [
            speed_accuracy(
                "Force and cost",
                _trials(held, _force_error),
                error=Axis("variance off the rigid grasp's by", "%", log=True),
                caption="How far the variance of the force is from that of the rigid grasp, above"
                " or below, at most over the paths; the control law is part of the cost.",
            ),
            speed_accuracy(
                "Slip and cost",
                _trials(held, _slip),
                error=Axis("slip", "mm", log=True),
                caption="How far the cube moved in the hand, at most over paths and starts.",
            ),
        ]
    if len(held) < len(settings):
        lost = len(settings) - len(held)
        figures.append(Prose(f"A cube was lost with {lost} of {len(settings)} settings."))
    return Section(f"Profile '{profile}': speed and accuracy", tuple(figures))


def _trials(
    settings: Mapping[tuple[str, float, int], Sequence[Group]], measure: _Measure
) -> list[Trial]:
    """Give the median cost and the worst error of each setting over its paths."""
    trials = []
    for (engine, *_), paths in settings.items():
        errors = [measure(group) for group in paths]
        known = [error for error in errors if error is not None]
        if len(known) == len(paths):
            trials.append(Trial(engine, median(group.cost for group in paths), max(known)))
    return trials


def _over_iterations(groups: Sequence[Group]) -> tuple[Figure, ...]:
    figures: list[Figure] = []
    for step in sorted({group.case.timestep for group in groups}):
        counted = [g for g in groups if g.case.timestep == step and g.case.iterations]
        figures.append(
            Lines(
                f"Variance over iterations, steps of {step * 1e3:g} ms",
                Axis("iterations of the solver", log=True),
                _RATIO,
                _series(counted, _ratio, over=lambda group: group.case.iterations),
                caption=f"ODE with its iterative solver. {_LOST}",
                marks=(Mark(1.0, RIGID),),
            )
        )
    return tuple(figures)


def _over_timestep(groups: Sequence[Group]) -> tuple[Figure, ...]:
    own = [group for group in groups if not group.case.iterations]
    if not own:
        return ()
    figure = Lines(
        "Variance over the time step",
        Axis("time step", "ms", log=True),
        _RATIO,
        _series(own, _ratio, over=lambda group: group.case.timestep * 1e3),
        caption=f"With the profile's own iterations. {_LOST}",
        marks=(Mark(1.0, RIGID),),
    )
    return (figure,)


def _over_friction(groups: Sequence[Group]) -> tuple[Figure, ...]:
    """Draw slip and variance over friction, and say who held the cube."""
    x = Axis("friction between pads and cube", log=True)
    limit = Mark(LEAST_FRICTION, "holds its weight", Side.X)

    def over(group: Group) -> float:
        return group.case.friction

    return (
        Lines(
            "Slip over friction",
            x,
            Axis("slip", "mm", log=True),
            _series(groups, _slip, over=over),
            caption="The most over the starts; 20 mm is lost. Left of the line, at"
            f" m g / (2 F) = {LEAST_FRICTION:.3f}, no friction could hold the cube.",
            marks=(limit,),
        ),
        Lines(
            "Variance over friction",
            x,
            _RATIO,
            _series(groups, _ratio, over=over),
            caption=_LOST,
            marks=(Mark(1.0, RIGID), limit),
        ),
        _friction_table(groups),
    )


def _friction_table(groups: Sequence[Group]) -> Table:
    """Say how often the cube was held, by engine and friction."""
    frictions = sorted({group.case.friction for group in groups})
    rows = []
    for engine in dict.fromkeys(group.case.engine for group in groups):
        cells = []
        for friction in frictions:
            here = [g for g in groups if (g.case.engine, g.case.friction) == (engine, friction)]
            starts = sum(len(group.outcomes) for group in here)
            cells.append(f"{sum(group.held for group in here)}/{starts}")
        rows.append((engine, *cells))
    columns = (Column("held at friction"), *(Column(f"{friction:g}") for friction in frictions))
    return Table("Held", columns, tuple(rows))


_DRAWN = {
    "iterations": _over_iterations,
    "timestep": _over_timestep,
    "friction": _over_friction,
}
_SPOKEN = {"iterations": "iterations", "timestep": "the time step", "friction": "friction"}


def _carried(groups: Sequence[Group]) -> list[Group]:
    return [group for group in groups if group.case.path is not ToolPath.RELEASE]


def _series(
    groups: Sequence[Group], measure: _Measure, *, over: Callable[[Group], float]
) -> tuple[Series, ...]:
    return sweep_series([Sample(g.case.engine, over(g), measure(g)) for g in groups])


def _ratio(group: Group) -> float | None:
    """Give the variance by that of the rigid grasp [-], of a cube that was held."""
    return group.ratio if group.whole else None


def _force_error(group: Group) -> float | None:
    """Give how far the variance is from that of the rigid grasp [%]."""
    return None if group.ratio is None else 100 * abs(group.ratio - 1)


def _slip(group: Group) -> float | None:
    """Give the greatest slip of all starts [mm]."""
    slip = group.greatest("slip_m")
    return None if slip is None else 1e3 * slip
