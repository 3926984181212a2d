"""Walks: plan, route over the ground, frames and warnings."""
