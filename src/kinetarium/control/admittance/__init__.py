"""Admittance control on SE(3), sensed wrenches, passivity and delay."""
