"""The loop as blocks: the paper's Fig. 2, with what it leaves out."""

from kinetarium.figure.diagram import Arrow, Box, Diagram


def loop_diagram() -> Diagram:
    """Give the block diagram of the controller."""
    return Diagram(
        "What a tick goes through",
        (
            Box("path", "0.20 m in 4.0 s, quintic", 0, 0),
            Box("pose error", "T~ = T_wb^-1 T_des\nl = log T~", 1, 0),
            Box("law", "V_ref = Ad(T~)\n(V_des - D^-1 (I - K l))", 2, 0),
            Box("inverse kinematics", "J^-1 (V_ref\n+ K_c log(T_wb^-1 T_ref))", 3, 0),
            Box("set points", "lines between ticks,\nsome milliseconds late", 4, 0),
            Box("wanted wrench", "F_des, once it may act", 0, 1),
            Box("wrench error", "F~ = s (F_des\n- Ad(T~)^T F_b)", 1, 1),
            Box("impulse", "I = integral of F~,\nheld and bounded", 2, 1),
            Box("forward kinematics", "T_wb of the satellite", 3, 1),
            Box("arm", "servos; weight and rate\nfed forward", 4, 1),
            Box("gate", "opens once, above\nits threshold", 0, 2),
            Box("weight", "F_b = Ad(T_sb)^T F_s\n- [R_wb^T m g; 0]", 1, 2),
            Box("filter", "mean over the tick,\nKalman", 2, 2),
            Box("sensor", "at the flange,\nwith noise", 3, 2),
            Box("contact", "of the docking faces", 4, 2),
        ),
        (
            Arrow("path", "pose error", "T_des, V_des"),
            Arrow("pose error", "law", "l, T~"),
            Arrow("law", "inverse kinematics", "V_ref"),
            Arrow("inverse kinematics", "set points", "q"),
            Arrow("set points", "arm", "q, qdot"),
            Arrow("arm", "forward kinematics", "q"),
            Arrow("forward kinematics", "inverse kinematics", "T_wb"),
            Arrow("arm", "contact", "pose"),
            Arrow("contact", "sensor", "wrench"),
            Arrow("sensor", "filter", "F_s"),
            Arrow("filter", "weight", "F_s"),
            Arrow("weight", "gate", "|f_b|"),
            Arrow("weight", "wrench error", "F_b"),
            Arrow("gate", "wanted wrench", "open"),
            Arrow("wanted wrench", "wrench error", "F_des"),
            Arrow("wrench error", "impulse", "F~"),
            Arrow("impulse", "law", "I"),
        ),
        caption="T_wb also enters the pose error; some presets take it from the reference T_ref"
        " instead, and end the path at contact. {w} is the world, {b} the satellite, {s} the"
        " sensor, {d} the desired pose; F_des, F~, I, D and K are in {d}, V_ref in {b}.",
    )
