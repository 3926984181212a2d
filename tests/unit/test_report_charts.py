import base64
import json
import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from kinetarium.figure.charts import (
    Axis,
    Bars,
    BarSeries,
    Heatmap,
    Lines,
    Mark,
    Series,
    Side,
    Spot,
    Style,
)
from kinetarium.figure.page import LIGHT, Page, Section, tones
from kinetarium.figure.text import Column, Prose, Table
from kinetarium.report.drawing import color_scale, drawn_samples, label, readable
from kinetarium.report.html.files import figure_files
from kinetarium.report.html.page import page_html
from kinetarium.report.matplotlib.still import draw_still
from kinetarium.report.plotly._layout import typed_values
from kinetarium.report.plotly.charts import plotly_bars, plotly_heatmap, plotly_lines

X, Y = Axis("time", "s"), Axis("height", "m")
LOG = Axis("height", "m", log=True)


def unpacked(form):
    values = np.frombuffer(base64.b64decode(form["bdata"]), dtype=f"<{form['dtype']}")
    return values.reshape([int(n) for n in form["shape"].split(",")]) if "shape" in form else values


def thinned(series, y=Y):
    return drawn_samples(series, x=X, y=y)


def test_short_series_are_drawn_whole():
    samples = thinned(Series("a", np.arange(1000.0), np.sin(np.arange(1000.0))))
    assert len(samples.x) == 1000 and samples.low is None


def test_long_series_keep_their_peaks():
    rng = np.random.default_rng(3)
    t = np.linspace(0, 1, 100_003)
    y = rng.normal(size=t.size)
    y[[0, 41_234, 99_999]] = 0.0, 50.0, -70.0
    samples = thinned(Series("a", t, y, low=y - 1, high=np.where(t == t[777], 90.0, y + 1)))
    assert len(samples.x) < 3200
    assert (np.diff(samples.x) > 0).all()
    assert (samples.x[0], samples.x[-1]) == (0.0, 1.0)
    assert (samples.y.max(), samples.y.min(), samples.high.max()) == (50.0, -70.0, 90.0)
    assert samples.x[samples.y == 50.0] == t[41_234]


def test_long_series_keep_their_gaps():
    t = np.linspace(0, 1, 50_000)
    y = np.ones(t.size)
    y[20_000:20_400], y[31_111] = np.nan, np.inf
    samples = thinned(Series("a", t, y))
    gaps = samples.x[np.isnan(samples.y)]
    assert t[31_111] in gaps
    assert gaps[0] == t[20_000] and t[20_300] <= gaps[-2] < t[20_400]


def test_curves_that_turn_back_keep_their_width():
    angle = np.linspace(0, 40 * np.pi, 60_000)
    samples = thinned(Series("a", 3 * np.cos(angle), np.sin(angle)))
    assert len(samples.x) < 2100
    assert samples.x.min() == pytest.approx(-3, abs=1e-4)
    assert samples.x.max() == pytest.approx(3, abs=1e-4)


def test_what_has_no_place_on_an_axis_is_a_gap():
    y = np.array([1.0, 0.0, -1.0, np.nan, np.inf, 1e300, 2.0])
    assert np.isnan(thinned(Series("a", np.arange(7.0), y), y=LOG).y).tolist() == [
        False, True, True, True, True, True, False,
    ]  # fmt: skip


def test_values_are_packed_small_where_no_eye_could_tell():
    assert typed_values(np.array([0.0, 1.0, np.nan]))["dtype"] == "f4"
    narrow = np.array([1e6, 1e6 + 1e-3])
    assert unpacked(typed_values(narrow)).tolist() == narrow.tolist()
    assert typed_values(np.array([1e-40, 2e-40]))["dtype"] == "f8"
    assert unpacked(typed_values(np.arange(6.0).reshape(2, 3))).shape == (2, 3)


def test_lines_in_the_words_of_plotly():
    band = Series("a", [0, 1, 2, 3], [1, 2, np.nan, 4], low=[0, 1, np.nan, 3], high=[2, 3, 4, 5])
    dashes = Series("b", [0, 1], [0, 1], Style.DASHED)
    marks = (Mark(1.5, "limit"), Mark(2.0, "event", Side.X), Mark(np.nan, "nowhere"))
    chart = plotly_lines(Lines("t", X, Y, (band, dashes), marks=marks), {"a": 0, "b": 1})
    outline, line, other = chart["data"]
    assert unpacked(outline["x"])[:4].tolist() == [0, 1, 1, 0]
    assert unpacked(outline["y"])[:4].tolist() == [0, 1, 3, 2]
    assert np.isnan(unpacked(line["y"])[2])
    assert (line["line"]["color"], other["line"]["dash"]) == ("var(--series-0)", "dash")
    assert [shape["label"]["text"] for shape in chart["layout"]["shapes"]] == ["limit", "event"]
    assert chart["layout"]["shapes"][1]["yref"] == "paper"
    assert chart["layout"]["xaxis"]["title"]["text"] == "time [s]"


def test_heatmaps_in_the_words_of_plotly():
    values = np.array([[0.01, 1.0], [np.nan, 1000.0]])
    value = Axis("error", "mm", log=True)
    heatmap = Heatmap("t", Axis("engine"), Axis("robot"), ("a", "b"), ("c", "d"), values, value,
                      annotate=True)  # fmt: skip
    chart = plotly_heatmap(heatmap)
    cells = chart["data"][0]
    np.testing.assert_array_equal(unpacked(cells["z"]), [[-2, 0], [np.nan, 3]])
    assert cells["text"] == [["0.01", "1"], ["", "1e+03"]]
    assert cells["hovertext"][1][1] == "d, b<br>1000 mm"
    assert chart["layout"]["yaxis"]["range"] == [1.5, -0.5]  # the first row on top
    assert cells["colorbar"]["ticktext"] == ("0.01", "0.1", "1", "10", "100", "1000")


def test_diverging_scales_have_their_middle_in_the_middle():
    def scale(values, value):
        return color_scale(Heatmap("t", X, Y, ("a",), ("b",), [[values]], value, diverging=True))

    assert (scale(-3.0, Y).low, scale(-3.0, Y).high) == (-3.0, 3.0)
    assert (scale(100.0, LOG).low, scale(100.0, LOG).high) == (-2.0, 2.0)
    assert (scale(np.nan, Y).low, scale(0.0, Y).high) == (-1.0, 0.5)


def test_bars_in_the_words_of_plotly():
    series = BarSeries("a", [1.0, np.nan], low=[0.5, np.nan], high=[3.0, np.nan])
    chart = plotly_bars(Bars("t", ("one", "two"), (series,), LOG), {"a": 9})
    (bars,) = chart["data"]
    assert bars["error_y"]["array"][0] == 2.0 and bars["error_y"]["arrayminus"][0] == 0.5
    assert bars["marker"]["color"] == "var(--series-1)"
    assert bars["hovertext"][0] == "one<br>1 m<br>0.5 to 3"
    assert chart["layout"]["yaxis"]["range"] == [-1.0, 1.0]


def all_charts():
    t = np.linspace(0, 1, 20)
    return (
        Lines("Lines, of all", X, LOG, (Series("a", t, t, Style.BOTH, t / 2, t * 2),),
              marks=(Mark(0.5, "half"),)),
        Lines("Equal", X, Y, (Series("_b", t, 1 - t, Style.DOTTED),), equal=True),
        Heatmap("Heat", X, Y, tuple(t), ("r", "s"), np.outer([1, 2], t), LOG, annotate=True,
                marks=(Spot(0.5, 0, "here"),)),
        Bars("Bars", ("p", "q"), (BarSeries("a", [1, 2]), BarSeries("c", [2, 3])), Y),
    )  # fmt: skip


def page_of(*figures):
    return Page("t", "l", (Section("s", figures),), ())


def test_pictures_are_files_and_always_the_same():
    page = page_of(Prose("words"), *all_charts())
    files = figure_files(page)
    assert list(files) == [
        "01-lines-of-all.svg", "01-lines-of-all.png", "02-equal.svg", "02-equal.png",
        "03-heat.svg", "03-heat.png", "04-bars.svg", "04-bars.png",
    ]  # fmt: skip
    assert figure_files(page) == files
    for name, content in files.items():
        assert content[:4] == b"\x89PNG" if name.endswith("png") else content[:5] == b"<?xml"
        assert b"<dc:date>" not in content
    assert b">_b</text>" in files["02-equal.svg"] or b"> _b</text>" in files["02-equal.svg"]


def test_settings_of_the_user_change_no_picture():
    import matplotlib

    chart = all_charts()[0]
    plain = draw_still(chart, {"a": 0}).svg
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "svg.fonttype": "path"}):
        assert draw_still(chart, {"a": 0}).svg == plain
        assert matplotlib.rcParams["font.size"] == 30


def test_stills_show_the_colour_of_the_series():
    bars = Bars("t", ("one",), (BarSeries("a", [1.0]),), Y)
    for tone in (0, 3):
        still = draw_still(bars, {"a": tone}, dots_per_inch=40)
        image = Image.open(BytesIO(still.png)).convert("RGB")
        colors = {color: count for count, color in image.getcolors(maxcolors=2**24)}
        wanted = tuple(int(LIGHT[tone][i : i + 2], 16) for i in (1, 3, 5))
        assert colors.get(wanted, 0) > 1000


def test_series_beyond_the_colours_have_dashes_and_patterns():
    names = [f"n{n}" for n in range(len(LIGHT) + 1)]
    lines = Lines("t", X, Y, tuple(Series(name, np.ones(2), np.ones(2)) for name in names))
    bars = Bars("t", ("one",), tuple(BarSeries(name, np.ones(1)) for name in names), Y)
    numbers = tones(page_of(lines, bars))
    first, *_, last = plotly_lines(lines, numbers)["data"]
    assert first["line"]["color"] == last["line"]["color"]
    assert first["line"]["dash"] == "solid" != last["line"]["dash"]
    first, *_, last = plotly_bars(bars, numbers)["data"]
    assert first["marker"]["pattern"] != last["marker"]["pattern"]
    assert b"stroke-dasharray" in draw_still(lines, numbers).svg


@pytest.mark.parametrize("y", [Y, LOG])
@pytest.mark.parametrize(
    "values", [[], [np.nan], [np.nan, np.inf], [1e300, -1e300], [5.0], [0.0], [1e-300, 1e99]]
)
def test_nothing_is_too_odd_to_draw(values, y):
    values = np.array(values)
    names = tuple(f"n{n}" for n in range(len(values)))
    lines = Lines("t", X, y, (Series("a", np.arange(len(values)), values),), equal=not y.log)
    bars = Bars("t", names, (BarSeries("a", values, values, values),), y)
    charts = [lines, bars]
    if not len(values):
        charts += [Lines("t", X, y, ()), Bars("t", (), (), y)]
    cells = values.reshape(1, -1)
    charts.append(Heatmap("t", X, Y, names, ("r",), cells, y, annotate=True, marks=(Spot(0, 0),)))
    html = page_html(page_of(*charts))
    assert html.count("<figure") == len(charts)


def test_many_long_series_stay_small():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 100, 10_000)
    series = tuple(Series(f"seed {n}", t, rng.normal(size=t.size)) for n in range(50))
    html = page_html(page_of(Lines("t", X, Y, series)))
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html)
    assert len(data) < 700_000
    assert len(json.loads(data)["data"]) == 50


def test_a_failed_row_is_seen_at_once():
    rows = (("a", "completed", "completed"), ("b", "timed out", "fine"), ("c", "diverged", ""))
    table = Table("", (Column("case"), Column("status"), Column("remark")), rows)
    html = page_html(page_of(table))
    assert re.findall(r'<td class="(status \w+)">([^<]*)', html) == [
        ("status good", "completed"), ("status bad", "timed out"), ("status bad", "diverged"),
    ]  # fmt: skip


def test_texts_are_made_fit():
    assert readable("a\x00b\x1b\u202ec\ud800\n\t ü漢") == "a\ufffdb\ufffd\ufffdc\ufffd\n\t ü漢"
    assert label(" a\n\u2028 b\t") == "a b"
    assert label("x" * 50) == "x" * 39 + "…"
    page_html(Page("half\ud800", "", (), ())).encode()  # can be written


def test_the_column_of_the_verdict_is_marked_and_empty_tables_are_a_sentence() -> None:
    columns = (Column("for"), Column("first choice"), Column("error", "m"))
    marked = Table("", columns, (("a grip", "ode", 0.1),), verdict=1)
    html = page_html(page_of(marked, Table("Cases that failed", columns, ())))
    assert '<td class="short verdict">ode</td>' in html
    assert "<p>Cases that failed: none.</p>" in html
    assert html.count("<table>") == 1
