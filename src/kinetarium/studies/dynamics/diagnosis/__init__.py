"""Causes found from the terms of the equation of motion, where no description shows them."""
