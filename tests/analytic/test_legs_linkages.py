"""Planar linkages: closure with the published bars, foot curves, the model of a walker."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.errors import KinetariumError
from kinetarium.legs import JANSEN, KLANN, LegsError, LinkageWalker
from kinetarium.legs.linkage import Dyad, Linkage, read_linkage

JANSEN_BARS = {
    "OP": 15.0, "BC": 41.5, "PC": 50.0, "BD": 40.1, "CD": 55.8, "BE": 39.3, "PE": 61.9,
    "DF": 39.4, "EF": 36.7, "FG": 65.7, "EG": 49.0,
}  # fmt: skip
"""m, b, j, d, e, c, k, f, g, h, i of Theo Jansen; a and l are the place of B."""
KLANN_BARS = {
    "AC": 17.5, "BH": 23.7, "CH": 38.8, "CF": 73.4, "FH": 35.2, "DE": 34.1, "EF": 57.7,
    "EG": 111.7, "FG": 59.0,
}  # fmt: skip
ANGLES = np.linspace(0.0, 2 * np.pi, 3601)


@pytest.mark.parametrize(("linkage", "bars"), [(JANSEN, JANSEN_BARS), (KLANN, KLANN_BARS)])
def test_bars_have_their_published_lengths_all_round(linkage, bars):
    places = linkage.points(ANGLES)
    for (a, b), length in bars.items():
        gaps = np.linalg.norm(places[a] - places[b], axis=1)
        np.testing.assert_allclose(gaps, length, atol=1e-9)
    assert linkage.closure(ANGLES) < 1e-9


def test_foot_curves():
    """Jansen's foot draws a flat line 0.43 of the crank's half turn long, as is well known."""
    x, z = JANSEN.points(ANGLES)["G"].T
    assert np.ptp(x) == pytest.approx(67.9, abs=0.1) and np.ptp(z) == pytest.approx(22.5, abs=0.1)
    for linkage, length, ripple in ((JANSEN, 58.7, 1.2), (KLANN, 63.5, 1.6)):
        stance = linkage.stance
        assert stance.length == pytest.approx(length, abs=0.2)
        assert stance.ripple < ripple
        assert 150 < abs(np.degrees(stance.angle)) < 165


def test_a_four_bar_linkage_of_chebyshev_draws_a_straight_line():
    """P. L. Chebyshev's lambda: ground 2, crank 1, other bars 2.5, coupler 5: level to 0.5 %."""
    lambda_bars = Linkage(
        name="chebyshev",
        source="textbooks",
        pivots=(("O", 0.0, 0.0), ("B", 2.0, 0.0)),
        crank=1.0,
        pin="P",
        dyads=(Dyad("C", "P", "B", 2.5, 2.5, 1), Dyad("F", "P", "C", 5.0, 2.5, 1)),
        links=(("crank", "O", "P"), ("rocker", "B", "C"), ("coupler", "P", "C", "F")),
        foot="F",
    )
    x, z = lambda_bars.points(ANGLES)["F"].T
    half = (ANGLES > np.pi / 2) & (ANGLES < 3 * np.pi / 2)
    assert np.ptp(z[half]) < 0.005 * np.ptp(x[half]) and np.ptp(x[half]) > 3.9


@pytest.mark.parametrize("linkage", [JANSEN, KLANN], ids=lambda linkage: linkage.name)
def test_the_walker_is_closed_and_its_feet_do_not_slip(linkage):
    walker = LinkageWalker(linkage, unit_m=0.01)
    model = walker.model()
    assert model.mass == pytest.approx(6.08)
    assert len(model.joints) - 2 * len(model.loops) == 4  # one degree of freedom a leg
    phase = np.linspace(0.0, 2.0, 801)
    cranks, support = walker.cranks(phase), walker.support(phase)
    assert np.abs(np.diff(cranks, axis=0)).max() < 0.25 and (support.sum(axis=1) >= 3).all()
    assert np.abs(cranks[400] - cranks[0]).max() == pytest.approx(2 * np.pi)
    feet = walker.feet_in_body(cranks)[:, :, 0] + walker.stride * phase[:, np.newaxis]
    for leg in range(4):
        both = support[1:, leg] & support[:-1, leg]
        assert np.abs(np.diff(feet[:, leg]))[both].max() < 2e-3 * walker.stride
    index = {link.name: i for i, link in enumerate(model.links)}
    for row in cranks[::97]:
        positions = walker.positions(row)
        X = link_poses(model, [positions[joint.name] for joint in model.moving_joints])
        for loop in model.loops:
            ends = X[index[loop.link_a]] @ loop.X_AC, X[index[loop.link_b]] @ loop.X_BC
            np.testing.assert_allclose(ends[0][:3, 3], ends[1][:3, 3], atol=1e-12)


def test_linkages_from_files(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nsource = "none"\ncrank = 1.0\npin = "P"\nfoot = "F"\n'
        'pivots = [["O", 0.0, 0.0], ["B", 2.0, 0.0]]\n'
        'links = [["crank", "O", "P"], ["rocker", "B", "C"], ["coupler", "P", "C", "F"]]\n'
        '[[dyads]]\npoint = "C"\nfirst = "P"\nsecond = "B"\nfrom_first = 2.5\nfrom_second = 2.5\n'
        "side = 1\n"
        '[[dyads]]\npoint = "F"\nfirst = "P"\nsecond = "C"\nfrom_first = 5.0\nfrom_second = 2.5\n'
        "side = 1\n"
    )
    assert read_linkage(path).closure(ANGLES) < 1e-9
    path.write_text('name = "mine"')
    with pytest.raises(KinetariumError):
        read_linkage(path)


@pytest.mark.parametrize(
    "values", [{"crank": 60.0}, {"foot": "Z"}, {"crank": -1.0}, {"pivots": ()}, {"links": ()}]
)
def test_linkages_that_do_not_close_are_refused(values):
    with pytest.raises(LegsError):
        replace(JANSEN, **values)
