"""Let a robot stand on the ground in every engine that is installed."""

import sys

from kinetarium import list_engines, run
from kinetarium.scene import driving_ground

scene = driving_ground("husky4")
heights = {}
for engine in (listing.name for listing in list_engines() if listing.available):
    recording = run(scene, engine=engine, duration=0.5)
    heights[engine] = 1000 * recording["poses"][-1, 0, 2]
    print(f"{engine:8} {recording.status}: the base stands {heights[engine]:.1f} mm high")
    assert recording.status == "running"
    assert abs(heights[engine] - 145) < 2

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 2.8), layout="constrained")
    axes.bar(list(heights), [height - 145 for height in heights.values()], color="#4a6fa5")
    axes.set_ylabel("height over 145 mm [mm]")
    axes.set_title("A Husky at rest sinks in by the softness of its contacts", fontsize=10)
    figure.savefig(sys.argv[1], dpi=80)
