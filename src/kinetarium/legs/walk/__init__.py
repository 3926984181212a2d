"""Walks: the plan, the route over the ground, the frames, warnings."""
