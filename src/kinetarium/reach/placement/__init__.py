"""Where a base stands best for a set of poses."""
