/** The equations write the angular accelerations of both joints here. */
const acceleration = new Float64Array(2)

/**
 * The constants of the equations of motion of a planar chain of two links. One reused object, so that a step
 * allocates nothing.
 */
export interface TwoLinkArm {
  /** kg m^2: m1 c1^2 + m2 (l1^2 + c2^2) + both moments of inertia about the centres of mass. */
  inertia: number
  /** kg m^2: m2 c2^2 + the second moment of inertia. */
  inertia2: number
  /** kg m^2: m2 l1 c2. */
  coupling: number
  /** N m: torques of gravity, (m1 c1 + m2 l1) g and m2 c2 g. */
  weight1: number
  weight2: number
  /** N m at the joints. */
  torque1: number
  torque2: number
  /** N m s: friction of both joints. */
  damping: number
}

export const twoLinkArm = (): TwoLinkArm => ({
  inertia: 0,
  inertia2: 0,
  coupling: 0,
  weight1: 0,
  weight2: 0,
  torque1: 0,
  torque2: 0,
  damping: 0,
})

/**
 * The equations of motion of Sutton & Barto's acrobot (Reinforcement Learning, 1998, section 11.3), with torque
 * and friction at each joint. Angles in rad: the first from hanging down, the second relative to the first
 * link.
 */
function accelerate(arm: TwoLinkArm, angle1: number, angle2: number, speed1: number, speed2: number): void {
  const { inertia2, coupling } = arm
  const cos2 = Math.cos(angle2)
  const pull = coupling * Math.sin(angle2)
  const d1 = arm.inertia + 2 * coupling * cos2
  const d2 = inertia2 + coupling * cos2
  const phi2 = arm.weight2 * Math.cos(angle1 + angle2 - Math.PI / 2)
  const phi1 =
    -pull * (speed2 * speed2) -
    2 * pull * speed2 * speed1 +
    arm.weight1 * Math.cos(angle1 - Math.PI / 2) +
    phi2 -
    (arm.torque1 - arm.damping * speed1)
  const second =
    (arm.torque2 - arm.damping * speed2 + (d2 / d1) * phi1 - pull * (speed1 * speed1) - phi2) /
    (inertia2 - (d2 * d2) / d1)
  acceleration[0] = -(d2 * second + phi1) / d1
  acceleration[1] = second
}

/**
 * One step of the classical fourth-order Runge-Kutta method, in place.
 *
 * @param state angle1, angle2 (rad), speed1, speed2 (rad/s), from index `s` on
 * @param dt s
 */
export function stepTwoLink(arm: TwoLinkArm, state: Float64Array, s: number, dt: number): void {
  const half = dt / 2
  const sixth = dt / 6
  const angle1 = state[s]
  const angle2 = state[s + 1]
  // v: speeds, a: accelerations at the four points. The digits are those of the joint and of the point.
  const v11 = state[s + 2]
  const v21 = state[s + 3]
  accelerate(arm, angle1, angle2, v11, v21)
  const a11 = acceleration[0]
  const a21 = acceleration[1]
  const v12 = v11 + half * a11
  const v22 = v21 + half * a21
  accelerate(arm, angle1 + half * v11, angle2 + half * v21, v12, v22)
  const a12 = acceleration[0]
  const a22 = acceleration[1]
  const v13 = v11 + half * a12
  const v23 = v21 + half * a22
  accelerate(arm, angle1 + half * v12, angle2 + half * v22, v13, v23)
  const a13 = acceleration[0]
  const a23 = acceleration[1]
  const v14 = v11 + dt * a13
  const v24 = v21 + dt * a23
  accelerate(arm, angle1 + dt * v13, angle2 + dt * v23, v14, v24)
  state[s] = angle1 + sixth * (v11 + 2 * v12 + 2 * v13 + v14)
  state[s + 1] = angle2 + sixth * (v21 + 2 * v22 + 2 * v23 + v24)
  state[s + 2] = v11 + sixth * (a11 + 2 * a12 + 2 * a13 + acceleration[0])
  state[s + 3] = v21 + sixth * (a21 + 2 * a22 + 2 * a23 + acceleration[1])
}
