"""reach-compare: base placement methods, compared with published results."""
