"""Pantograph legs, and machines with four of them."""
