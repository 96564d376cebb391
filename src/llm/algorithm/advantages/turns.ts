import { defineAdvantage } from '../define.ts'
import type { EpisodeTurns } from '../define.ts'
import { grpoAdvantages, grpoSettingsSchema } from './grpo.ts'
import type { GrpoAdvantageSettings } from './grpo.ts'

/** One episode of a group: the reward of each turn, and the outcome. */
export interface TurnRewards {
  turns: readonly number[]
  outcome: number
}

/**
 * Turn advantages: a turn's reward is compared with the same turn of the other episodes, and the outcome with their
 * outcomes, `A_k = A(turn k) + weight * A(outcome)`. The last turn uses only the outcome, `A_last = A(outcome)`. A turn
 * that only some episodes reach is compared among those episodes.
 *
 * Source: MT-GRPO (arXiv 2505.11821), defined there for two turns; the settings are those of `grpoAdvantages`.
 *
 * @param members episodes of one group; `null` = masked, gets no advantages.
 * @returns an advantage for each turn of each member.
 */
export function turnLevelAdvantages(
  members: readonly (TurnRewards | null)[],
  settings: GrpoAdvantageSettings & {
    /** Weight of the outcome in the turns before the last. Default: 1. */ weight?: number
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

/**
 * Turn advantages from returns: the discounted return from a turn is compared with that of the same turn of the other
 * episodes, `A_k = grpo(G_k)`, `G_k = r_k + gamma * G_(k+1)`. The outcome is added to the last reward. Rewards before a
 * turn do not affect its advantage. A turn that only some episodes reach is compared among those episodes.
 *
 * Source: normalised discounted returns of turns, GTPO (arXiv 2511.14846); the settings are those of `grpoAdvantages`.
 *
 * @param members episodes of one group; `null` = masked, gets no advantages.
 * @returns an advantage for each turn of each member.
 */
export function turnReturnAdvantages(
  members: readonly (TurnRewards | null)[],
  settings: GrpoAdvantageSettings & {
    /** Default: 1. */ gamma?: number
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

/** One episode of a group: a key of the state before each step, and the reward of each step. */
export interface StepRecord {
  states: readonly string[]
  rewards: readonly number[]
}

/** Settings of `stepGroupAdvantages`. */
export interface StepGroupSettings extends GrpoAdvantageSettings {
  /** Discount of the return. Default: 1 (GiGPO's experiments: 0.95). */
  gamma?: number
  /** Weight of the advantage among equal states. Default: 1. */
  weight?: number
}

/**
 * Group-in-group advantages: adds to the episode's advantage a step advantage, which compares the discounted return
 * from a step with those of all steps of the group in the same state: `A_t = A(episode) + weight * A(step among equal
 * states)`. Needs no critic and no further samples.
 *
 * Source: GiGPO (arXiv 2505.10978). A state that occurs once adds 0. The return of the episode is the undiscounted sum
 * of its rewards. The settings `std` and `epsilon` are those of `grpoAdvantages`.
 *
 * @param members episodes of one group; `null` = masked.
 * @returns an advantage for every step of every member.
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

export const turnLevelDefinition = defineAdvantage({
  name: 'turn-level',
  about: 'a turn against the same turn of the other episodes, and the outcome',
  formula: 'A(turn) + w A(outcome)',
  source: ['2505.11821'],
  needs: 'rewards of steps',
  settings: { ...grpoSettingsSchema, weight: { type: 'number', default: 1 } },
  per: 'turn',
  compute: ({ turns }, settings: GrpoAdvantageSettings & { weight?: number }) =>
    turnLevelAdvantages(turns, settings),
  cases: [
    {
      rewards: [1, 0],
      turns: [
        [0.5, 0],
        [0, 0],
      ],
    },
    { settings: { weight: 0.5, std: false }, rewards: [1, 0, 1], turns: [[1, 0], [0], [0, 1, 0]] },
  ],
})

export const turnReturnDefinition = defineAdvantage({
  name: 'turn-return',
  about: 'the return from a turn on against that of the same turn of the other episodes',
  formula: 'A(Σ γ^i r) among the same turn of the group',
  source: ['2511.14846'],
  needs: 'rewards of steps, or a `gamma` below 1',
  settings: { ...grpoSettingsSchema, gamma: { type: 'number', minimum: 0, maximum: 1, default: 1 } },
  per: 'turn',
  compute: ({ turns }, settings: GrpoAdvantageSettings & { gamma?: number }) =>
    turnReturnAdvantages(turns, settings),
  cases: [
    {
      rewards: [1, 0],
      turns: [
        [0.5, 0],
        [0, 0],
      ],
    },
    { settings: { gamma: 0.9 }, rewards: [1, 0, 1], turns: [[1, 0], [0], [0, 1, 0]] },
  ],
})

export const stepGroupDefinition = defineAdvantage({
  name: 'step-group',
  about: 'the episode, and each turn against all turns in the same state',
  formula: 'A(episode) + w A(return among equal states)',
  source: ['2505.10978'],
  needs: "states that come again; with `anchor: 'history'` nothing",
  settings: {
    ...grpoSettingsSchema,
    gamma: { type: 'number', minimum: 0, maximum: 1, default: 1 },
    weight: { type: 'number', default: 1 },
    anchor: { oneOf: ['observation', 'history'], default: 'observation' },
  },
  per: 'turn',
  compute: ({ turns }, settings: StepGroupSettings & StepGroupAnchor) =>
    stepGroupAdvantages(
      turns.map((episode) => stepsOf(episode, settings)),
      settings,
    ),
  cases: [
    {
      rewards: [1, 0],
      turns: [
        [0.5, 0],
        [0, 0],
      ],
    },
    {
      settings: { gamma: 0.95, weight: 0.5, anchor: 'history' },
      rewards: [1, 0, 1],
      turns: [[1, 0], [0], [0, 1, 0]],
    },
  ],
})

interface StepGroupAnchor {
  /**
   * When states are equal. `observation` (default, as in GiGPO): if the policy was shown the same since its last turn.
   * `history`: if everything before is the same; correct also if the last tool result does not identify the state.
   */
  anchor?: 'observation' | 'history'
}

/** The steps of an episode; the last step's reward includes the outcome. */
function stepsOf(
  episode: EpisodeTurns | null,
  { anchor = 'observation' }: StepGroupAnchor,
): StepRecord | null {
  if (episode === null) return null
  const states = episode.states(anchor)
  const last = states.length - 1
  return {
    states,
    rewards: episode.turns.map((reward, k) => reward + (k === last ? episode.outcome : 0)),
  }
}
