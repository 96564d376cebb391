import { AgogeError } from '../../error.ts'
import type { EpisodeReward } from './types.ts'

/** A score with named parts, and the reason for it as text. */
export interface Scored<Part extends string = string> {
  value: number
  parts: Readonly<Partial<Record<Part, number>>>
  reason?: string
}

/** A result that could not be judged, with the reason as text. It does not count in gradients and means. */
export interface Unscored {
  value: null
  parts?: Readonly<Record<string, never>>
  reason?: string
}

/**
 * What a judge, a reward function or an evaluation returns: a number, a number with parts, or `null`. `null` means that the
 * episode could not be judged. Such an episode is masked: it has no reward and no gradient. For the judge of an environment or
 * an agent, a score of at least 1 is a success and a lower one is a failure.
 */
export type Score<Part extends string = string> = number | Scored<Part> | Unscored | null

/**
 * Checks a score and returns its object form.
 *
 * @param of what was judged, for the error message.
 * @throws AgogeError `bad-reward` if the value is missing, or if the value or a part is not a finite number.
 * @example readScore(0.5, 'an answer') // { value: 0.5, parts: {} }
 */
export function readScore<Part extends string>(score: Score<Part>, of: string): Scored<Part> | Unscored {
  if (score === null) return { value: null }
  const noParts = {} as Scored<Part>['parts']
  const scored = typeof score === 'number' ? { value: score, parts: noParts } : score
  if (scored?.value === null) return scored
  // Untyped programs may pass anything.
  const { value, parts = noParts } = (scored ?? {}) as Partial<Scored<Part>>
  if ([value, ...Object.values(parts)].every((number) => Number.isFinite(number))) return { ...scored, parts }
  throw new AgogeError(`The score of ${of} is not a finite number`, {
    code: 'bad-reward',
    given: score,
    expected: 'a finite number (1 = done), { value, parts }, or null if it cannot be judged',
  })
}

/**
 * Returns the rewards that an episode stores for the score of its judge. Each part is stored as `part:NAME`. The value is stored
 * as `score`, unless it is 0 or 1: then the episode's `success` already gives it.
 */
export function rewardsOfScore({ value, parts = {} }: Scored | Unscored, agent: string): EpisodeReward[] {
  const rewards = Object.entries<number | undefined>(parts).map(([name, part]) => ({
    agent,
    name: `part:${name}`,
    value: part ?? null,
  }))
  return value === null || value === 0 || value === 1
    ? rewards
    : [...rewards, { agent, name: 'score', value }]
}
