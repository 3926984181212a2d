"""Safe expansion of xacro: nothing is executed, work and size are bounded."""

from kinetarium.model.xacro.expander import expand_xacro, uses_xacro

__all__ = ["expand_xacro", "uses_xacro"]
