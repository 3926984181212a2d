"""Control of wheeled bases: kinematics, laws, references, wheel drives."""
