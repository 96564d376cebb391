import { AgogeError } from '../../error.ts'
import type { EpisodeReward } from './types.ts'

/** A score with the named parts it is made of, and in words why. */
export interface Scored<Part extends string = string> {
  value: number
  parts: Readonly<Partial<Record<Part, number>>>
  reason?: string
}

/** What could not be judged, and why. It enters neither a gradient nor a mean. */
export interface Unscored {
  value: null
  parts?: Readonly<Record<string, never>>
  reason?: string
}

/**
 * What an environment's judge, a reward or an evaluation says of an episode: a number, a number with its parts, or `null` where it cannot
 * be judged, which masks. From the judge of an environment or of an agent, 1 and more is success, anything less is not.
 */
export type Score<Part extends string = string> = number | Scored<Part> | Unscored | null

/**
 * A score in its long form.
 *
 * @param of names what was judged, in errors.
 * @throws AgogeError `bad-reward` where it is none: a value or part that is not a finite number, an object without a value.
 * @example readScore(0.5, 'an answer') // { value: 0.5, parts: {} }
 */
export function readScore<Part extends string>(score: Score<Part>, of: string): Scored<Part> | Unscored {
  if (score === null) return { value: null }
  const none = {} as Scored<Part>['parts']
  const scored = typeof score === 'number' ? { value: score, parts: none } : score
  if (scored?.value === null) return scored
  // Of programs without types, anything may come.
  const { value, parts = none } = (scored ?? {}) as Partial<Scored<Part>>
  if ([value, ...Object.values(parts)].every((number) => Number.isFinite(number))) return { ...scored, parts }
  throw new AgogeError(`The score of ${of} is not a finite number`, {
    code: 'bad-reward',
    given: score,
    expected: 'a finite number (1 = done), { value, parts }, or null where it cannot be judged',
  })
}

/** What an episode keeps of its judge's score: the parts as `part:NAME`, and the value as `score` where success does not say it (not 0 or 1). */
export function judgedRewards({ value, parts = {} }: Scored | Unscored, agent: string): EpisodeReward[] {
  const rewards = Object.entries<number | undefined>(parts).map(([name, part]) => ({
    agent,
    name: `part:${name}`,
    value: part ?? null,
  }))
  return value === null || value === 0 || value === 1
    ? rewards
    : [...rewards, { agent, name: 'score', value }]
}
