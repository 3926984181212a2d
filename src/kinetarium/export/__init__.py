"""Recordings in the formats of other tools: MCAP, ROS 2 bags, CSV, Parquet, NumPy."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.export.runs import ExportFormat as ExportFormat
    from kinetarium.export.runs import export_run as export_run
    from kinetarium.export.tables import ExportError as ExportError
    from kinetarium.export.tables import read_channels as read_channels
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
