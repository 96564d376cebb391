import { AgogeError } from '../../error.ts'
import type { EpisodeReward } from './types.ts'

/** A score with its named parts and the reason in words. */
export interface Scored<Part extends string = string> {
  value: number
  parts: Readonly<Partial<Record<Part, number>>>
  reason?: string
}

/** A result that could not be judged, and why. Gradients and means leave it out. */
export interface Unscored {
  value: null
  parts?: Readonly<Record<string, never>>
  reason?: string
}

/**
 * The result of an environment's judge, a reward or an evaluation: a number, a number with parts, or `null` if the episode could
 * not be judged, which masks it. For the judge of an environment or agent, 1 or more is success and anything less is failure.
 */
export type Score<Part extends string = string> = number | Scored<Part> | Unscored | null

/**
 * Normalises a score to its object form.
 *
 * @param of names the judged object in errors.
 * @throws AgogeError `bad-reward` if the value is missing, or if the value or a part is not a finite number.
 * @example readScore(0.5, 'an answer') // { value: 0.5, parts: {} }
 */
export function readScore<Part extends string>(score: Score<Part>, of: string): Scored<Part> | Unscored {
  if (score === null) return { value: null }
  const none = {} as Scored<Part>['parts']
  const scored = typeof score === 'number' ? { value: score, parts: none } : score
  if (scored?.value === null) return scored
  // Untyped programs may pass anything.
  const { value, parts = none } = (scored ?? {}) as Partial<Scored<Part>>
  if ([value, ...Object.values(parts)].every((number) => Number.isFinite(number))) return { ...scored, parts }
  throw new AgogeError(`The score of ${of} is not a finite number`, {
    code: 'bad-reward',
    given: score,
    expected: 'a finite number (1 = done), { value, parts }, or null if it cannot be judged',
  })
}

/**
 * The rewards that an episode stores for its judge's score: each part as `part:NAME`, and the value as `score` unless it is 0 or
 * 1, which `success` already says.
 */
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
