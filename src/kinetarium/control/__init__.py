"""Controllers and the laws they are made of."""
