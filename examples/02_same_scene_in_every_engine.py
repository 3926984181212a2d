"""Let a robot stand on the ground in every engine that is installed."""

from kinetarium import list_engines, run
from kinetarium.scene import driving_ground

scene = driving_ground("husky4")
for engine in (listing.name for listing in list_engines() if listing.available):
    recording = run(scene, engine=engine, duration=0.5)
    height = recording["poses"][-1, 0, 2]
    print(f"{engine:8} {recording.status}: the base stands {height * 1000:.1f} mm high")
    assert recording.status == "running"
    assert abs(height - 0.145) < 0.002
