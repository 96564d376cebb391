import { grpoAdvantages } from './grpo.ts'
import type { GrpoAdvantageSettings } from './grpo.ts'

/** One episode of a group: the reward of each turn, and that of the outcome. */
export interface TurnRewards {
  turns: readonly number[]
  outcome: number
}

/**
 * Credit by turns: a turn's own reward is compared with the same turn of the siblings, the outcome with their
 * outcomes, `A_k = A(turn k) + weight * A(outcome)`; the last turn gets the outcome alone, `A_last = A(outcome)`.
 * Turns that only some siblings reached are compared among those.
 *
 * Source: MT-GRPO (arXiv 2505.11821), written there for two turns; the settings are those of `grpoAdvantages`.
 *
 * @param members of one group; `null` = masked, gets no advantages.
 * @returns an advantage for each turn of each member.
 */
export function turnLevelAdvantages(
  members: readonly (TurnRewards | null)[],
  settings: GrpoAdvantageSettings & {
    /** Of the outcome in the turns before the last. Default 1. */ weight?: number
  } = {},
): number[][] {
  const { weight = 1 } = settings
  const outcomes = grpoAdvantages(
    members.map((member) => member?.outcome ?? null),
    settings,
  )
  const depth = members.reduce((most, member) => Math.max(most, member?.turns.length ?? 0), 0)
  const ofTurns = Array.from({ length: depth }, (_, k) =>
    grpoAdvantages(
      members.map((member) => member?.turns[k] ?? null),
      settings,
    ),
  )
  return members.map((member, m) =>
    (member?.turns ?? []).map((_, k, turns) =>
      k === turns.length - 1 ? outcomes[m] : ofTurns[k][m] + weight * outcomes[m],
    ),
  )
}
