import { AgogeError } from '../../../error.ts'
import { choiceCounts, forbiddenChoice } from '../action-masks.ts'
import { isArraySpace } from '../object-kind.ts'
import { explainMismatch } from '../space-contains.ts'
import { describeSpace } from '../space-describe.ts'
import type { Space } from '../space.ts'

/**
 * Throws `not-in-space` for an action outside the space, and `invalid-action` for one that the mask does not allow.
 */
export function checkMove(
  environment: string,
  agent: string,
  space: Space,
  action: unknown,
  mask: ArrayLike<number> | undefined,
): void {
  const why = explainMismatch(space, action, `the action of ${agent} in ${environment}`)
  if (why !== undefined)
    throw new AgogeError(why, { code: 'not-in-space', given: action, expected: describeSpace(space) })
  if (mask === undefined || !isArraySpace(space)) return
  const row = typeof action === 'number' ? [action] : (action as ArrayLike<number>)
  if (forbiddenChoice(space, row, 0, mask, 0) < 0) return
  const start = space.type === 'discrete' ? space.start : 0
  let offset = 0
  const allowed = choiceCounts(space).map((n) => {
    const choices = Array.from({ length: n }, (_, k) => k).filter((k) => mask[offset + k] === 1)
    offset += n
    return choices.map((k) => k + start).join(', ') || 'none'
  })
  throw invalidMove(environment, agent, action, allowed.join('; '))
}

/** A move against the rules. */
export const invalidMove = (
  environment: string,
  agent: string,
  given: unknown,
  allowed: string,
): AgogeError =>
  new AgogeError(`${agent} may not do that in ${environment}`, {
    code: 'invalid-action',
    given,
    expected: `one of the actions allowed: ${allowed}`,
  })

/** Throws `reset-needed` where nobody acts: before the first reset and after the end. */
export function checkBegun(environment: string, acting: readonly string[]): void {
  if (acting.length > 0) return
  throw new AgogeError(`${environment} was stepped before it was reset, or after its end`, {
    code: 'reset-needed',
    hint: 'call reset() first',
  })
}

/** Checks that there is an action of each agent who acts, and of nobody else: `reset-needed`, `missing-action`, `not-acting`. */
export function checkActors(
  environment: string,
  acting: readonly string[],
  actions: Readonly<Record<string, unknown>>,
): void {
  checkBegun(environment, acting)
  for (const agent of acting) {
    if (Object.hasOwn(actions, agent)) continue
    throw new AgogeError(`${agent} has to act in ${environment}, and has no action`, {
      code: 'missing-action',
      given: Object.keys(actions),
      expected: `actions of ${acting.join(', ')}`,
    })
  }
  for (const agent of Object.keys(actions)) {
    if (acting.includes(agent)) continue
    throw new AgogeError(`${agent} does not act now in ${environment}`, {
      code: 'not-acting',
      given: agent,
      expected: `actions of ${acting.join(', ')} only`,
    })
  }
}
