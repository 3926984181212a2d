"""Where a robot can reach, and where its base stands best: kinematics without physics."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.dynamics.chain import SerialChain as SerialChain
    from kinetarium.dynamics.chain import serial_chain as serial_chain
    from kinetarium.reach.collision.piece_arrays import PieceArrays as PieceArrays
    from kinetarium.reach.collision.pieces import body_pieces as body_pieces
    from kinetarium.reach.ik.solve import IkSolutions as IkSolutions
    from kinetarium.reach.ik.solve import Policy as Policy
    from kinetarium.reach.ik.solve import ik_arrays as ik_arrays
    from kinetarium.reach.ik.solve import solve_ik as solve_ik
    from kinetarium.reach.maps.build import build_map as build_map
    from kinetarium.reach.maps.build import build_part as build_part
    from kinetarium.reach.maps.files import ReachMap as ReachMap
    from kinetarium.reach.maps.files import open_map as open_map
    from kinetarium.reach.maps.files import verify_map as verify_map
    from kinetarium.reach.placement.query import Placement as Placement
    from kinetarium.reach.placement.query import Placer as Placer
    from kinetarium.reach.placement.query import place_base as place_base
    from kinetarium.reach.placement.score_raster import slice_map as slice_map

_HOMES = {
    "IkSolutions": "kinetarium.reach.ik.solve",
    "PieceArrays": "kinetarium.reach.collision.piece_arrays",
    "Placement": "kinetarium.reach.placement.query",
    "Placer": "kinetarium.reach.placement.query",
    "Policy": "kinetarium.reach.ik.solve",
    "ReachMap": "kinetarium.reach.maps.files",
    "SerialChain": "kinetarium.dynamics.chain",
    "body_pieces": "kinetarium.reach.collision.pieces",
    "build_map": "kinetarium.reach.maps.build",
    "build_part": "kinetarium.reach.maps.build",
    "ik_arrays": "kinetarium.reach.ik.solve",
    "open_map": "kinetarium.reach.maps.files",
    "place_base": "kinetarium.reach.placement.query",
    "serial_chain": "kinetarium.dynamics.chain",
    "slice_map": "kinetarium.reach.placement.score_raster",
    "solve_ik": "kinetarium.reach.ik.solve",
    "verify_map": "kinetarium.reach.maps.files",
}

__all__ = [*_HOMES]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
