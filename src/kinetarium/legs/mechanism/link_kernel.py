"""The poses of all links of many legs, as a Numba kernel."""

from math import atan2, cos, hypot, sin, sqrt

from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled


@compiled
def place_links(kind: int, dimensions: Array, q: Array, hips: Array, poses: Array) -> None:
    """Place the nine links of each leg.

    Args:
        kind: 0 for TTT1, 1 for TTT2, 2 for TTR.
        dimensions: l1, l2, gain and rail height, shape (4,).
        q: Joint values, shape (n, 3).
        hips: Position and quaternion wxyz of the leg frames, shape (n, 7).
        poses: Filled with position and quaternion wxyz of the links, shape (n, 9, 7).
    """
    l1, l2, gain, rail = dimensions[0], dimensions[1], dimensions[2], dimensions[3]
    for i in range(len(q)):
        x, c, v = q[i, 0], q[i, 1], q[i, 2]
        drop = v - rail
        side = c if kind == 1 else 0.0
        shift = c if kind == 0 else 0.0
        rho = hypot(side, drop) if kind == 1 else drop
        L = hypot(x, rho)
        p = (L + l1 + l2) / 2
        b, c1, c2 = max(p - L, 0.0), max(p - l1, 0.0), max(p - l2, 0.0)
        half1 = atan2(sqrt(b * c1), sqrt(p * c2))
        half3 = atan2(sqrt(c1 * c2), sqrt(p * b))
        # Half angles, for quaternions.
        alpha1 = half1 - atan2(x, rho) / 2
        alpha2 = alpha1 + half3
        alpha3 = atan2(side, drop) / 2 if kind == 1 else 0.0
        turn = c / 2 if kind == 2 else 0.0

        hip, out = hips[i], poses[i]
        w, i1, j1, k1 = hip[3], hip[4], hip[5], hip[6]
        # The leg's orientation: the hip's, turned about z.
        ct, st = cos(turn), sin(turn)
        qw, qx = w * ct - k1 * st, i1 * ct + j1 * st
        qy, qz = j1 * ct - i1 * st, k1 * ct + w * st
        # Its axes, the columns of the rotation matrix.
        xx, xy, xz = 1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy + qw * qz), 2 * (qx * qz - qw * qy)
        yx, yy, yz = 2 * (qx * qy - qw * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + qw * qx)
        zx, zy, zz = 2 * (qx * qz + qw * qy), 2 * (qy * qz - qw * qx), 1 - 2 * (qx * qx + qy * qy)
        ox, oy, oz = hip[0] + shift * yx, hip[1] + shift * yy, hip[2] + shift * yz
        ax, ay, az = ox + v * zx, oy + v * zy, oz + v * zz
        bx = ox + x * xx + side * yx + rail * zx
        by = oy + x * xy + side * yy + rail * zy
        bz = oz + x * xz + side * yz + rail * zz
        for link in range(9):
            pose = out[link]
            if link == 0:
                pose[0], pose[1], pose[2] = hip[0], hip[1], hip[2]
            elif link == 1:
                pose[0], pose[1], pose[2] = ox, oy, oz
            elif link == 2 or link == 4:
                pose[0], pose[1], pose[2] = ax, ay, az
            elif link == 3 or link == 5 or link == 6:
                pose[0], pose[1], pose[2] = bx, by, bz
            else:  # the pantograph law, f - a = K (b - a)
                pose[0] = ax + gain * (bx - ax)
                pose[1] = ay + gain * (by - ay)
                pose[2] = az + gain * (bz - az)
            if link == 0:
                pose[3], pose[4], pose[5], pose[6] = w, i1, j1, k1
            elif link < 4 or link == 8:
                pose[3], pose[4], pose[5], pose[6] = qw, qx, qy, qz
        # Rx(alpha3) Ry(alpha): the product of the two quaternions, applied after the leg's.
        for half, first, second in ((alpha1, 4, 5), (alpha2, 6, 7)):
            c3, s3, ca, sa = cos(alpha3), sin(alpha3), cos(half), sin(half)
            rw, rx, ry, rz = c3 * ca, s3 * ca, c3 * sa, s3 * sa
            tw = qw * rw - qx * rx - qy * ry - qz * rz
            tx = qw * rx + qx * rw + qy * rz - qz * ry
            ty = qw * ry - qx * rz + qy * rw + qz * rx
            tz = qw * rz + qx * ry - qy * rx + qz * rw
            for link in (first, second):
                pose = out[link]
                pose[3], pose[4], pose[5], pose[6] = tw, tx, ty, tz
