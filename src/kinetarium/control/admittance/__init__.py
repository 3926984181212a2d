"""Admittance control on SE(3), wrench sensing, passivity and delay."""
