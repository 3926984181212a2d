"""Inverse kinematics: closed form and generic."""
