import type { Random } from 'agoge/engine'

/** Step of the controller in s, steps of an episode, gravity, arm of a rotor in m, moment of inertia per kg, and most thrust per kg. */
const [step, steps, gravity, arm, inertia, most] = [0.02, 200, 9.81, 0.04, 6e-4, 2.25 * 9.81]
/** Drag per kg, ground effect, downwash of the drone above, and the place of that one. */
export interface Effects {
  drag: number
  ground: number
  downwash: number
}
/** Rigid body alone. */
export const none: Effects = { drag: 0, ground: 0, downwash: 0 }
/** What the simulator assumes. */
export const usual: Effects = { drag: 0.6, ground: 0.15, downwash: 3 }
const above = [0, 1]

/** Where to be, how fast and with what acceleration: around an ellipse in 4 s, close to the ground and under the other drone. */
function path(time: number, phase: number) {
  const rate = (2 * Math.PI) / 4
  const [cos, sin] = [Math.cos(phase + rate * time), Math.sin(phase + rate * time)]
  const place = [0.5 * cos, 0.4 + 0.3 * sin]
  return {
    place,
    speed: [-0.5 * rate * sin, 0.3 * rate * cos],
    acceleration: [-0.5 * rate ** 2 * cos, -0.3 * rate ** 2 * sin],
  }
}

/** Weights of errors of place, speed and their sum in both directions, of angle and its speed, and of what a learned policy sees besides. */
export const gains = [6, 4, 0, 6, 4, 0, 100, 15]
/** How many numbers a learned policy sees besides, for each direction. */
export const extra = 6

/** Mean error of place in m of a planar quadcopter along the ellipse. A crash counts as 1 m for all later steps. */
export function fly(weights: readonly number[], effects: Effects, phase: number, random: Random): number {
  const first = path(0, phase)
  let [[x, z], [vx, vz]] = [first.place, first.speed]
  let [angle, spin, sumX, sumZ, total, rising, turning] = [0, 0, 0, 0, 0, gravity, 0]
  for (let t = 0; t < steps; t++) {
    const { place, speed, acceleration } = path(t * step, phase)
    const [ex, ez] = [place[0] - x, place[1] - z]
    const [wx, wz] = speed
    sumX += ex * step
    sumZ += ez * step
    const near = Math.exp(-(((x - above[0]) / 0.15) ** 2) / 2)
    const seen = [vx, vz, near, near * z, 1 / (0.1 + z), 1]
    const residual = (from: number): number =>
      weights.length === gains.length ? 0 : seen.reduce((sum, v, k) => sum + v * weights[from + k], 0)
    const [kx, dx, ix, kz, dz, iz, ka, da] = weights
    const ax = acceleration[0] + kx * ex + dx * (wx - vx) + ix * sumX + residual(8)
    const az = acceleration[1] + kz * ez + dz * (wz - vz) + iz * sumZ + residual(8 + extra)
    const lift = Math.max(0, Math.min(most, (az + gravity) / Math.max(0.5, Math.cos(angle))))
    const turn = ka * (Math.max(-0.6, Math.min(0.6, ax / gravity)) - angle) - da * spin
    // Both rotors within their limits.
    const difference = Math.max(-lift, Math.min(lift, (turn * inertia) / arm))
    for (let part = 0; part < 2; part++) {
      const dt = step / 2
      // Rotors follow with a lag of 0.05 s.
      rising += (dt / 0.05) * (lift - rising)
      turning += (dt / 0.05) * (difference - turning)
      const thrust = rising * (1 + effects.ground * (0.1 / Math.max(0.05, z)) ** 2)
      const beside = Math.exp(-(((x - above[0]) / 0.15) ** 2) / 2)
      const wash = (0.1 * effects.downwash * beside) / Math.max(0.15, above[1] - z) ** 2
      spin += dt * ((turning * arm) / inertia)
      angle += dt * spin
      vx += dt * (thrust * Math.sin(angle) - effects.drag * vx)
      vz += dt * (thrust * Math.cos(angle) - gravity - effects.drag * vz - wash)
      x += dt * vx
      z += dt * vz
    }
    spin += 0.3 * random.normal() * Math.sqrt(step)
    if (z < 0.02 || z > 0.95 || Math.abs(angle) > 1.5) return (total + (steps - t)) / steps
    total += Math.hypot(ex, ez)
  }
  return total / steps
}
