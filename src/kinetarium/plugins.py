"""Finding engines and studies by entry points, nothing else."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points


@cache
def discover(group: str) -> dict[str, EntryPoint]:
    """Give the plug-ins of a group by name, not yet imported.

    Args:
        group: The entry-point group, such as "kinetarium.engines".
    """
    return {point.name: point for point in entry_points(group=group)}
