"""Base placement: the best base for a set of poses."""
