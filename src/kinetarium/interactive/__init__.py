"""Interactive simulation: a robot in an engine that somebody moves, pulls and looks at."""
