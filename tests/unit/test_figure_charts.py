from itertools import combinations

import numpy as np
import pytest

from kinetarium.figure.charts import Axis, Bars, BarSeries, Heatmap, Lines, Series, Spot, cell_edges
from kinetarium.figure.page import DARK, LIGHT, Page, Section, tone_round, tones

X = Axis("x", "m")
LOG = Axis("x", "m", log=True)


def test_headings_carry_the_unit():
    assert Axis("time", "s").heading == "time [s]"
    assert Axis("count").heading == "count"


def test_series_keep_what_they_were_given():
    y = np.arange(3.0)
    series = Series("a", np.arange(3.0), y, low=y - 1, high=y + 1)
    y[0] = 99.0
    assert series.y[0] == 0.0
    for values in (series.x, series.y, series.low, series.high):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Series("a", np.ones(3), np.ones(4)), "'a': y and x differ"),
        (lambda: Series("a", np.ones(3), np.ones((3, 1))), "'a': y and x differ"),
        (lambda: Series("a", np.ones(3), np.ones(3), low=np.ones(3)), "'a': a band has two edges"),
        (lambda: BarSeries("a", np.ones(3), high=np.ones(3)), "'a': a range has two ends"),
        (lambda: BarSeries("a", np.ones(3), np.ones(3), np.ones(2)), "'a': high and values"),
        (lambda: Bars("t", ("one",), (BarSeries("a", np.ones(2)),), X), "'a': 2 values for 1"),
        (lambda: Heatmap("t", X, X, (1.0, 2.0), ("a",), np.ones((2, 1)), X), r"\(2, 1\), not \(1,"),
        (lambda: Heatmap("t", X, X, (2.0, 1.0), ("a",), np.ones((1, 2)), X), "'x' does not rise"),
        (lambda: Heatmap("t", LOG, X, (0.0, 1.0), ("a",), np.ones((1, 2)), X), "does not rise"),
    ],
)
def test_figures_that_do_not_fit_together_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("steps", "axis", "edges"),
    [
        (("a", "b"), X, [-0.5, 0.5, 1.5]),
        ((1.0, 2.0, 4.0), X, [0.5, 1.5, 3.0, 5.0]),
        ((1.0, 100.0), LOG, [0.1, 10.0, 1000.0]),
        ((3.0,), X, [2.5, 3.5]),
        ((), X, []),
    ],
)
def test_cells_meet_half_way(steps, axis, edges):
    np.testing.assert_allclose(cell_edges(steps, axis)[: len(edges)], edges)


def test_marks_beyond_the_cells_are_not_shown():
    spots = (Spot(1.0, 0.0), Spot(0.0, 0.0), Spot(np.nan, 0.0), Spot(1.0, 1.0))
    heatmap = Heatmap("t", LOG, X, (1.0, 10.0), ("a",), np.ones((1, 2)), X, marks=spots)
    assert heatmap.shown_marks == spots[:1]


def test_a_name_has_one_colour_on_a_page():
    lines = Lines("t", X, X, tuple(Series(name, np.ones(1), np.ones(1)) for name in "ab"))
    bars = Bars("t", ("one",), tuple(BarSeries(name, np.ones(1)) for name in "cbda"), X)
    page = Page("t", "", (Section("s", (lines,)), Section("s", (bars,))), ())
    assert tones(page) == {"a": 0, "b": 1, "c": 2, "d": 3}


def test_what_all_charts_have_takes_its_colours_before_what_one_has():
    def chart(*names):
        return Lines("t", X, X, tuple(Series(name, np.ones(1), np.ones(1)) for name in names))

    joints = chart(*(f"joint{n}" for n in range(12)))
    engines = chart("mujoco", "bullet"), chart("mujoco", "bullet", "closed form")
    found = tones(Page("t", "", (Section("s", (joints, *engines)),), ()))
    assert (found["mujoco"], found["bullet"], found["closed form"]) == (0, 1, 2)
    # Of the joints only those beyond the eight colours repeat one, with dashes.
    assert [found[f"joint{n}"] for n in range(12)] == [2, 3, 4, 5, 6, 7, 0, 1, 8, 9, 10, 11]
    assert [tone_round(found[f"joint{n}"]) for n in (7, 8)] == [0, 1]


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    dark, light = sorted(linear(color) @ (0.2126, 0.7152, 0.0722) for color in (a, b))
    return (light + 0.05) / (dark + 0.05)


# Machado, Oliveira, Fernandes (2009), severity 1.0.
SIGHT = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip


def oklab(rgb):
    cones = np.array(
        [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
         [0.0883024619, 0.2817188376, 0.6299787005]]
    )  # fmt: skip
    opponents = np.array(
        [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
         [0.0259040371, 0.7827717662, -0.8086757660]]
    )  # fmt: skip
    return opponents @ np.cbrt(cones @ np.clip(rgb, 0, 1))


@pytest.mark.parametrize(("palette", "ground"), [(LIGHT, "#ffffff"), (DARK, "#1c2026")])
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_are_told_apart(palette, ground, sight):
    assert min(contrast(color, ground) for color in palette) >= 3.0
    seen = [oklab(SIGHT[sight] @ linear(color)) for color in palette]
    assert min(100 * np.linalg.norm(a - b) for a, b in combinations(seen, 2)) >= 9.0
