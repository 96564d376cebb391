import { grpoAdvantages } from './grpo.ts'
import type { GrpoAdvantageSettings } from './grpo.ts'

/** One episode of a group: where it was before each step, as a key, and what each step was paid. */
export interface StepRecord {
  states: readonly string[]
  rewards: readonly number[]
}

export interface StepGroupSettings extends GrpoAdvantageSettings {
  /** Discount of the return from a step on. Default 1 (GiGPO's experiments: 0.95). */
  gamma?: number
  /** Of the advantage among equal states. Default 1. */
  weight?: number
}

/**
 * Group-in-group credit: besides the episode's advantage among its siblings, each step is compared with all steps of
 * the group that were taken in the same state, by the discounted return from there on:
 * `A_t = A(episode) + weight * A(step among equal states)`. It needs no critic and no further samples.
 *
 * Source: GiGPO (arXiv 2505.10978). A state that was met once says nothing and adds 0. The return of the
 * episode is the undiscounted sum of its rewards; settings `std` and `epsilon` are those of `grpoAdvantages`.
 *
 * @param members of one group; `null` = masked.
 * @returns an advantage for each step of each member.
 */
export function stepGroupAdvantages(
  members: readonly (StepRecord | null)[],
  settings: StepGroupSettings = {},
): number[][] {
  const { gamma = 1, weight = 1 } = settings
  const episodes = grpoAdvantages(
    members.map((member) => member?.rewards.reduce((sum, reward) => sum + reward, 0) ?? null),
    settings,
  )
  const advantages = members.map((member, m) => (member?.rewards ?? []).map(() => episodes[m]))
  const visits = new Map<string, { m: number; t: number; ret: number }[]>()
  for (const [m, member] of members.entries()) {
    if (member === null) continue
    let ret = 0
    for (let t = member.rewards.length - 1; t >= 0; t--) {
      ret = member.rewards[t] + gamma * ret
      const same = visits.get(member.states[t]) ?? []
      same.push({ m, t, ret })
      visits.set(member.states[t], same)
    }
  }
  for (const same of visits.values()) {
    const relative = grpoAdvantages(
      same.map(({ ret }) => ret),
      settings,
    )
    for (const [i, { m, t }] of same.entries()) advantages[m][t] += weight * relative[i]
  }
  return advantages
}
