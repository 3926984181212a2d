"""The catalogue as a page: a headline table, then every robot with its picture and joints."""

from collections.abc import Mapping

import numpy as np

from kinetarium.figure.facts import Facts
from kinetarium.figure.listing import Listing
from kinetarium.figure.page import Figure, Page, Section
from kinetarium.figure.prose import Prose
from kinetarium.figure.robot_scene import robot_scene
from kinetarium.figure.robot_tables import joint_tables, repair_table
from kinetarium.figure.table import Column, Table
from kinetarium.model.catalogue import CatalogueEntry
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

_LEAD = (
    "Robots that Kinetarium knows by name. Each is one frozen model, read once through a strict"
    " gate that refuses what no simulation should be built on and lists what it repaired; every"
    " physics engine is given this same model."
)

Catalogue = Mapping[str, tuple[CatalogueEntry, RobotModel]]
"""What the catalogue says of each robot, and its model, by name."""


def catalogue_table(robots: Catalogue) -> Table:
    """Give the headline table: a row for every robot."""
    return Table(
        "",
        (
            Column("name"),
            Column("links"),
            Column("joints"),
            Column("moving"),
            Column("mass", "kg"),
            Column("base"),
            Column("tool"),
            Column("robot"),
            Column("sources"),
        ),
        tuple(
            (
                name,
                len(model.links),
                len(model.joints),
                len(model.moving_joints),
                model.mass,
                _base(model),
                entry.tool or "none",
                entry.title,
                f"{len(entry.sources)} under {entry.licence}",
            )
            for name, (entry, model) in robots.items()
        ),
    )


def catalogue_page(robots: Catalogue, *, provenance: tuple[tuple[str, str], ...]) -> Page:
    """Give the whole page.

    Args:
        robots: The robots.
        provenance: How to make the page again.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    headline = Section("All robots", (catalogue_table(robots),))
    cards = (_card(entry, model) for entry, model in robots.values())
    return Page("The robot catalogue", _LEAD, (headline, *cards), provenance)


def _card(entry: CatalogueEntry, model: RobotModel) -> Section:
    scene = robot_scene(model, home(entry, model), X_WB=pose((0.0, 0.0, entry.base_height)))
    repairs = repair_table(model)
    figures: tuple[Figure, ...] = (
        *([scene] if scene else []),
        Prose(f"{entry.description[:1].upper()}{entry.description[1:]}."),
        Facts(
            (
                ("links", len(model.links), ""),
                ("moving joints", len(model.moving_joints), ""),
                ("mass", model.mass, "kg"),
                ("base", _base(model), ""),
                ("tool", entry.tool or "none", ""),
            )
        ),
        *joint_tables(model),
        repairs if repairs.rows else Prose("Nothing had to be repaired."),
        Listing(f"Sources ({entry.licence})", entry.sources),
    )
    return Section(entry.title, figures, label=entry.name)


def home(entry: CatalogueEntry, model: RobotModel) -> Array:
    """Give the positions of the moving joints in the home pose [rad or m], shape (joints,)."""
    return np.array([entry.home.get(joint.name, 0.0) for joint in model.moving_joints])


def _base(model: RobotModel) -> str:
    return "free" if model.free_base else "fixed"
