"""Speed and cost as ratios against a peer in the same run; `make bench` runs them all."""

import sys
from pathlib import Path

# The plain definitions that kernels are compared with belong to the tests.
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
