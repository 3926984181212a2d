"""The robot without anything that stops it: what falls freely in a free motion."""

from dataclasses import replace

from kinetarium.model.robot import Joint, JointType, Limits, RobotModel


def unhindered(model: RobotModel, *, reference: RobotModel) -> RobotModel:
    """Leave out limits, couplings, loops and geometry, and damping and friction.

    Engines integrate those in ways of their own, so that motions could be
    compared only roughly. Damping and friction that the reference does not have
    stay: they are what the comparison is to show.

    Args:
        model: The robot as a back-end was given it.
        reference: The robot under study.
    """
    known = {joint.name: joint for joint in reference.joints}

    def free(joint: Joint) -> Joint:
        same = known.get(joint.name, joint)
        return replace(
            joint,
            limits=Limits(),
            mimic=None,
            damping=0.0 if joint.damping == same.damping else joint.damping,
            friction=0.0 if joint.friction == same.friction else joint.friction,
        )

    return replace(
        model,
        links=tuple(replace(link, collisions=(), visuals=()) for link in model.links),
        joints=tuple(free(joint) for joint in model.joints),
        loops=(),
    )


def with_held_sliders(model: RobotModel) -> RobotModel:
    """Fix the sliding joints at zero: without their stops they would fly off.

    A robot that only slides keeps its joints.
    """
    if all(joint.type is JointType.PRISMATIC for joint in model.moving_joints):
        return model
    held = (JointType.FIXED, JointType.PRISMATIC)
    return replace(
        model,
        joints=tuple(
            replace(joint, type=JointType.FIXED) if joint.type in held else joint
            for joint in model.joints
        ),
    )
