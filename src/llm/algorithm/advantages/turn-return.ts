import { grpoAdvantages } from './grpo.ts'
import type { GrpoAdvantageSettings } from './grpo.ts'
import type { TurnRewards } from './turn-level.ts'

/**
 * Credit by returns: the discounted sum of rewards from a turn on, the outcome paid with the last one, is compared with that of the same
 * turn of the siblings: `A_k = grpo(G_k)`, `G_k = r_k + gamma * G_(k+1)`. What came before a turn has no part in its credit.
 * Turns that only some siblings reached are compared among those.
 *
 * Source: normalised discounted returns of turns, GTPO (arXiv 2511.14846); the settings are those of `grpoAdvantages`.
 *
 * @param members of one group; `null` = masked, gets no advantages.
 * @returns an advantage for each turn of each member.
 */
export function turnReturnAdvantages(
  members: readonly (TurnRewards | null)[],
  settings: GrpoAdvantageSettings & {
    /** Default 1. */ gamma?: number
  } = {},
): number[][] {
  const { gamma = 1 } = settings
  const returns = members.map((member) => (member === null ? [] : returnsOf(member, gamma)))
  const depth = Math.max(0, ...returns.map(({ length }) => length))
  const ofTurns = Array.from({ length: depth }, (_, k) =>
    grpoAdvantages(
      returns.map((values) => values[k] ?? null),
      settings,
    ),
  )
  return returns.map((values, m) => values.map((_, k) => ofTurns[k][m]))
}

function returnsOf({ turns, outcome }: TurnRewards, gamma: number): number[] {
  const returns = Array.from(turns, (reward, k) => reward + (k === turns.length - 1 ? outcome : 0))
  for (let k = returns.length - 2; k >= 0; k--) returns[k] += gamma * returns[k + 1]
  return returns
}
