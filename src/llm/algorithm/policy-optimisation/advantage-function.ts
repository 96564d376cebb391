import { AgogeError } from '../../../error.ts'
import type { Episode } from '../../episode/types.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'
import type { TurnAdvantage } from './advantages-of.ts'
import type { MemberGroup } from './batch.ts'

/**
 * What an episode is worth: one advantage for all of it, or an entry for each of its `samples`, a number for the turn or one number for
 * each token of its output node (those that the policy did not choose are not read).
 */
export type EpisodeAdvantage = number | readonly (number | ArrayLike<number>)[]

/**
 * Advantages of one's own: of a critic, a judge of steps, or what else. It is given the groups with their rewards as shaped (`null` =
 * masked) and gives an entry for every episode of every group; those of masked ones are not read. Figures go to the record.
 */
export type AdvantageFunction = (
  groups: readonly EpisodeGroup[],
  context: LearningContext,
) => AdvantageReport | Promise<AdvantageReport>

export interface AdvantageReport {
  turnAdvantages: readonly (readonly EpisodeAdvantage[])[]
  metrics?: Record<string, number>
}

/** Asks the function and lays its answer out by the tokens that the policy chose. @throws AgogeError `shape-mismatch`. */
export async function askAdvantages(
  batch: readonly MemberGroup[],
  advantage: AdvantageFunction,
  context: LearningContext,
): Promise<{ turnAdvantages: TurnAdvantage[][]; metrics: Record<string, number> }> {
  const groups = batch.map(({ members, greedyReward }) => ({
    episodes: members.map(({ episode }) => episode),
    rewards: members.map(({ reward }) => reward),
    ...(greedyReward === undefined ? {} : { greedyReward }),
  }))
  const { turnAdvantages, metrics = {} } = await advantage(groups, context)
  return {
    turnAdvantages: batch.map(({ members }, g) =>
      members.map(({ episode, length }, m) => {
        const turnAdvantage = turnAdvantages[g]?.[m]
        if (length === 0 || typeof turnAdvantage === 'number')
          return length === 0 ? 0 : (turnAdvantage as number)
        return byToken(episode, turnAdvantage, length)
      }),
    ),
    metrics,
  }
}

function byToken(
  episode: Episode,
  turnAdvantage: EpisodeAdvantage | undefined,
  length: number,
): Float32Array {
  const { samples, id } = episode
  if (typeof turnAdvantage !== 'object' || turnAdvantage.length !== samples.length)
    throw badShape(
      id,
      typeof turnAdvantage === 'object' ? turnAdvantage.length : turnAdvantage,
      `${samples.length} entries`,
    )
  const tokens = new Float32Array(length)
  let at = 0
  samples.forEach(({ trainable, mask }, s) => {
    const turn = turnAdvantage[s]
    if (typeof turn !== 'number' && turn.length !== mask.length)
      throw badShape(`${id}, sample ${s}`, turn.length, `a number, or ${mask.length} of them`)
    if (!trainable) return
    mask.forEach((chosen, t) => {
      if (chosen !== 0) tokens[at++] = typeof turn === 'number' ? turn : turn[t]
    })
  })
  return tokens
}

function badShape(where: string, given: unknown, expected: string): AgogeError {
  return new AgogeError(`The credit of episode ${where} does not fit`, {
    code: 'shape-mismatch',
    given,
    expected: `${expected}: one number for the episode, or an entry for each of its samples`,
  })
}
