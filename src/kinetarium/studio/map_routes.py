"""Routes of reachability maps: what there is, each field as a volume, and the robot in it."""

import numpy as np

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.coats import link_coats
from kinetarium.figure.replay import Replay, Solid, pose_rows
from kinetarium.model.catalogue import catalogue_entry, catalogue_names
from kinetarium.model.load import load_robot
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studio.http import HttpError, Request, Response, Route, json_response, ranged, route
from kinetarium.studio.replay_file import replay_file
from kinetarium.studio.results import Results
from kinetarium.studio.volume import describe_volumes
from kinetarium.studio.volume_file import volume_file


class MapRoutes:
    """Serves the maps in a folder of results."""

    def __init__(self, results: Results) -> None:
        """Serve some results."""
        self._results = results

    def routes(self) -> tuple[Route, ...]:
        """Give the routes."""
        return (
            route("GET", "/api/maps/{map}", self._map),
            route("GET", "/api/maps/{map}/robot", self._robot),
            route("GET", "/api/maps/{map}/volume/{field}", self._volume),
        )

    def _map(self, request: Request) -> Response:
        return json_response(describe_volumes(self._results.map(request.parts["map"])))

    def _volume(self, request: Request) -> Response:
        path = self._results.map(request.parts["map"])
        return Response(volume_file(path, request.parts["field"]))

    def _robot(self, request: Request) -> Response:
        info = describe_volumes(self._results.map(request.parts["map"]))
        if not info["shown"]:
            raise HttpError(404, "the robot is not of the catalogue, or not in this map")
        return ranged(request, robot_file(info["robot"], base_link=info["base"]))


def robot_file(name: str, *, base_link: str) -> bytes:
    """Give a robot of the catalogue at its home pose as a replay file, one link at the origin.

    Raises:
        UnknownNameError: If there is no such robot or link.
    """
    assert name in catalogue_names()
    model = load_robot(name)
    home = catalogue_entry(name).home
    q = np.array([home.get(joint.name, 0.0) for joint in model.moving_joints])
    poses = link_poses(model, q)
    names = [link.name for link in model.links]
    X_BW = inverse_pose(poses[names.index(model.link(base_link).name)])
    solids = tuple(
        Solid(link, name, coats, pose_rows((X_BW @ X_WL)[None]))
        for (link, coats), X_WL in zip(link_coats(model).items(), poses, strict=True)
        if coats
    )
    return replay_file(Replay(np.zeros(1), solids), {}, title=name)
