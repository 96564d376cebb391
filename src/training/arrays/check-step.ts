import { AgogeError } from '../../error.ts'
import type { VectorEnvironment } from '../../environment/index.ts'

/**
 * Stops at the first number that is none, before it reaches the weights.
 *
 * @param step of the environment, for the message.
 * @throws AgogeError naming world, step, slot and field.
 */
export function checkStep(environment: VectorEnvironment, step: number): void {
  const { observations, rewards } = environment
  for (let i = 0; i < rewards.length; i++)
    if (!(Math.abs(rewards[i]) < Infinity)) throw notFinite(environment, step, 'rewards', i, rewards[i])
  for (let k = 0; k < observations.length; k++) {
    if (Math.abs(observations[k]) < Infinity) continue
    const width = observations.length / rewards.length
    throw notFinite(environment, step, `observations[${k % width}]`, Math.floor(k / width), observations[k])
  }
}

function notFinite(
  { world, actions, rewards }: VectorEnvironment,
  step: number,
  field: string,
  slot: number,
  value: number,
): AgogeError {
  const size = actions.length / rewards.length
  const action = Array.from(actions.subarray(slot * size, (slot + 1) * size))
  return new AgogeError(`${world.name} gave ${value} at step ${step}: ${field} of slot ${slot}`, {
    code: 'not-finite',
    given: { world: world.name, step, slot, field, value: String(value), action },
    expected: 'finite numbers',
    hint: "Look at the world's step() and observe() for this action, and at the bounds of its action space",
  })
}
