"""reach-place and reach-follow: base placement, and bases that drive along a trajectory."""
