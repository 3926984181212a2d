"""Control of arms: inverse kinematics in closed loop, computed torque, tracking."""
