"""Figures as frozen data, which reports, the studio and the command line draw."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.figure.charts import Axis as Axis
    from kinetarium.figure.charts import Bars as Bars
    from kinetarium.figure.charts import BarSeries as BarSeries
    from kinetarium.figure.charts import Heatmap as Heatmap
    from kinetarium.figure.charts import Lines as Lines
    from kinetarium.figure.charts import Mark as Mark
    from kinetarium.figure.charts import Parallel as Parallel
    from kinetarium.figure.charts import Scale as Scale
    from kinetarium.figure.charts import Series as Series
    from kinetarium.figure.charts import Side as Side
    from kinetarium.figure.charts import Spot as Spot
    from kinetarium.figure.charts import Steps as Steps
    from kinetarium.figure.charts import Style as Style
    from kinetarium.figure.page import Diagram as Diagram
    from kinetarium.figure.page import DiagramBlock as DiagramBlock
    from kinetarium.figure.page import Figure as Figure
    from kinetarium.figure.page import Page as Page
    from kinetarium.figure.page import Section as Section
    from kinetarium.figure.page import Signal as Signal
    from kinetarium.figure.replay import Arrow as Arrow
    from kinetarium.figure.replay import DisplayMesh as DisplayMesh
    from kinetarium.figure.replay import Guide as Guide
    from kinetarium.figure.replay import Replay as Replay
    from kinetarium.figure.replay import Solid as Solid
    from kinetarium.figure.replay import pose_rows as pose_rows
    from kinetarium.figure.robot_page import robot_scene as robot_scene
    from kinetarium.figure.scene3d import Camera as Camera
    from kinetarium.figure.scene3d import Color as Color
    from kinetarium.figure.scene3d import Mesh3D as Mesh3D
    from kinetarium.figure.scene3d import Scene3D as Scene3D
    from kinetarium.figure.scene_replay import link_meshes as link_meshes
    from kinetarium.figure.scene_replay import scene_replay as scene_replay
    from kinetarium.figure.scene_replay import shape_mesh as shape_mesh
    from kinetarium.figure.text import Cell as Cell
    from kinetarium.figure.text import Column as Column
    from kinetarium.figure.text import Facts as Facts
    from kinetarium.figure.text import Listing as Listing
    from kinetarium.figure.text import Prose as Prose
    from kinetarium.figure.text import Table as Table
    from kinetarium.figure.text import rows_table as rows_table
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
