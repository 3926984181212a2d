"""Speed and cost as ratios against a peer in the same run; `make bench` runs them all."""
