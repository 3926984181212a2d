"""Diagnosis from the terms of the equation of motion, for what an audit does not show."""
