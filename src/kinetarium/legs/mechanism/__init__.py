"""Pantograph legs and the machines made of them."""
