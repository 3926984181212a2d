"""Xacro expanded safely: nothing is executed, everything is bounded."""

from kinetarium.model.xacro.expander import expand_xacro, uses_xacro

__all__ = ["expand_xacro", "uses_xacro"]
