import gzip
import json

import numpy as np
import pytest

from kinetarium.reach.maps.files import MapFileError, write_map
from kinetarium.reach.maps.recipe import MapKind, MapRecipe, field_shape, graded_grid, value_type
from kinetarium.studio._routes import MOST_PER_AXIS, describe_volumes, read_volume
from unit.studio_server import running_studio

RNG = np.random.default_rng(1)


def made_map(path, *, kind=MapKind.CAPABILITY, voxel=0.2, robot="panda"):
    recipe = MapRecipe(kind, robot, "0", "panda_link0", "panda_link8", voxel, 1.0, 50, 0, True, 16)
    columns, shape = value_type(kind), field_shape(recipe)
    fields = {
        name: RNG.integers(0, 50, shape).astype(columns[name]) for name in columns.names or ()
    }
    write_map(path, recipe, fields=fields, units=dict.fromkeys(fields, "1"))
    return recipe, fields


def test_a_field_becomes_grades(tmp_path):
    recipe, fields = made_map(tmp_path / "m.rmap")
    volume = read_volume(tmp_path / "m.rmap", "reachable")
    assert volume.grades.shape == field_shape(recipe)
    assert (volume.greatest, volume.unit) == (100.0, "%")
    np.testing.assert_allclose(volume.grades, fields["reachable"] / 50 * 255, atol=0.5)
    assert volume.lower == pytest.approx([-1.1, -1.1, -1.1]) and volume.voxel == 0.2
    best = read_volume(tmp_path / "m.rmap", "manipulability")
    assert best.greatest == fields["manipulability"].max() and best.grades.max() == 255
    assert ((best.grades > 0) == (fields["manipulability"] > 0)).all()
    assert read_volume(tmp_path / "m.rmap", "other") is None


def test_graded_maps_are_shown_at_their_best_tilt(tmp_path):
    recipe, fields = made_map(tmp_path / "m.rmap", kind=MapKind.IRM4)
    volume = read_volume(tmp_path / "m.rmap", "reach")
    grid = graded_grid(recipe)
    assert volume.grades.shape == (grid.side, grid.side, grid.layers)
    np.testing.assert_array_equal(volume.grades[3, 4, 5], fields["reach"][5, :, 3, 4].max())


def test_fine_maps_are_shown_in_blocks(tmp_path):
    _, fields = made_map(tmp_path / "m.rmap", voxel=0.0118)
    volume = read_volume(tmp_path / "m.rmap", "reachable")
    assert max(volume.grades.shape) <= MOST_PER_AXIS and volume.voxel == pytest.approx(0.0236)
    block = fields["reachable"][2:4, 4:6, 6:8].max()
    assert volume.grades[1, 2, 3] == np.rint(block / 50 * 255)


def test_the_server_gives_volumes_and_the_robot(tmp_path):
    _, fields = made_map(tmp_path / "some" / "m.rmap")
    made_map(tmp_path / "other.rmap", robot="/etc/passwd")
    with running_studio(tmp_path) as studio:
        maps = json.loads(studio.request("/api/runs")[2])["maps"]
        ids = {entry["name"]: entry["id"] for entry in maps}
        address = f"/api/maps/{ids['some/m.rmap']}"
        assert json.loads(studio.request(address)[2])["fields"] == list(fields)
        status, _, body = studio.request(f"{address}/volume/reachable")
        start = 4 + int.from_bytes(body[:4], "little")
        head = json.loads(body[4:start])
        assert status == 200 and head["shape"] == [11, 11, 11] and head["voxel"] == 0.2
        values = np.frombuffer(gzip.decompress(body[start:]), np.uint8)
        grades = values.reshape(11, 11, 11, order="F")
        np.testing.assert_allclose(grades, fields["reachable"] / 50 * 255, atol=0.5)
        assert studio.request(f"{address}/volume/..%2fmanifest")[0] == 404
        assert studio.request(f"{address}/robot")[2][:8] == b"KINREPL1"
        # A map that names a file instead of a robot opens nothing.
        assert studio.request(f"/api/maps/{ids['other.rmap']}/robot")[0] == 404


def test_broken_maps_are_refused(tmp_path):
    made_map(tmp_path / "m.rmap")
    (tmp_path / "m.rmap" / "reachable.npy").write_bytes(b"short")
    with pytest.raises(MapFileError):
        describe_volumes(tmp_path / "m.rmap")
