"""The study dock-stability: delay and stiffness of an admittance loop."""
