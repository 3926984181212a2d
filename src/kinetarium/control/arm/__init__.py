"""Control of arms: closed-loop inverse kinematics, computed torque, tracking."""
