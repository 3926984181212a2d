"""The study calibrate: steady turns, and the track multiplier that they show."""
