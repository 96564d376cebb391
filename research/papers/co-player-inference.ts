import { createMultiAgentVector, prisonersDilemma } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { each } from '../testbeds/each.ts'

const rounds = 20
/** A round as an agent saw it: 0 before the first, else 1 + 2 x own action + the other's; 1 defects. A history is the last two. */
const histories = 25
const after = (h: number, own: number, other: number): number => 5 * (h % 5) + 1 + 2 * own + other
const turned = (round: number): number => (round === 2 ? 3 : round === 3 ? 2 : round)
/** The same history, as the other agent saw it. */
const mirror = each(histories).map((h) => 5 * turned(Math.floor(h / 5)) + turned(h % 5))

/** Reward of an agent for own action and the other's, at 2 x own + other. */
const payoffs = ((): number[] => {
  const environment = createMultiAgentVector(prisonersDilemma, { numEnvs: 4, seed: 0 })
  environment.reset()
  for (const k of each(4)) environment.actions.set([k >> 1, k & 1], 2 * k)
  environment.step()
  return each(4).map((k) => environment.rewards[2 * k])
})()

/** Probability of defection after every history. */
type Strategy = Float64Array
/** Fixed co-players: every deterministic answer to the last round. */
const habits = each(32).map((bits) =>
  Float64Array.from({ length: histories }, (_, h) => (bits >> (h % 5)) & 1),
)
/** A co-player that plays at random, whatever the other does, and one that repeats what the other did. */
const noise = [new Float64Array(histories).fill(0.5)]
const titForTat = [Float64Array.from({ length: histories }, (_, h) => [0, 0, 1, 0, 1][h % 5])]

/** The histories that can be, and where the four pairs of actions lead from each. */
const possible = each(histories).filter((h) => h === 0 || h < 5 || (h > 5 && h % 5 > 0))
const next = each(histories).map((h) => Int32Array.from(each(4), (pair) => after(h, pair >> 1, pair & 1)))
/** Probabilities of histories, round by round, and the rewards to come after the round that is looked at. */
const reached = each(rounds + 1).map(() => new Float64Array(histories))
const worth = [new Float64Array(histories), new Float64Array(histories)]

/**
 * One agent against another, exactly: the reward in a round, the share of cooperation, and what defection adds to the rewards to come,
 * summed over rounds by the probability of being there [histories].
 */
function play(own: Strategy, other: Strategy) {
  let cooperation = 0
  for (const row of reached) row.fill(0)
  reached[0][0] = 1
  for (let t = 0; t < rounds; t++) {
    const [now, then] = [reached[t], reached[t + 1]]
    for (const h of possible) {
      const [here, to, p, q] = [now[h], next[h], own[h], other[mirror[h]]]
      if (here === 0) continue
      cooperation += (here * (1 - p)) / rounds
      then[to[0]] += here * (1 - p) * (1 - q)
      then[to[1]] += here * (1 - p) * q
      then[to[2]] += here * p * (1 - q)
      then[to[3]] += here * p * q
    }
  }
  const gains = new Float64Array(histories)
  worth[rounds % 2].fill(0)
  for (let t = rounds - 1; t >= 0; t--) {
    const [now, values, later] = [reached[t], worth[t % 2], worth[(t + 1) % 2]]
    for (const h of possible) {
      if (now[h] === 0) continue
      const [to, p, q] = [next[h], own[h], other[mirror[h]]]
      const cooperates = (1 - q) * (payoffs[0] + later[to[0]]) + q * (payoffs[1] + later[to[1]])
      const defects = (1 - q) * (payoffs[2] + later[to[2]]) + q * (payoffs[3] + later[to[3]])
      values[h] = (1 - p) * cooperates + p * defects
      gains[h] += (now[h] * (defects - cooperates)) / rounds
    }
  }
  return { reward: worth[0][0] / rounds, cooperation, gains }
}

/** How two learners are trained: a share of their games is against fixed co-players. */
interface Settings {
  rate: number
  strangers: readonly Strategy[]
  share: number
}

/** Exact policy gradients of two learners; the share of cooperation when they play each other at the end. */
function cooperation({ seed, budget }: ArmRun, { rate, strangers, share }: Settings): ArmResult {
  const random = createRandom('learners', seed)
  const logits = [0, 1].map(() => Float64Array.from({ length: histories }, () => random.normal()))
  const strategies = (): Strategy[] => logits.map((own) => own.map((x) => 1 / (1 + Math.exp(-x))))
  const start = strategies()
  const entropy = 0.01
  for (let update = 0; update < budget.updates; update++) {
    const now = strategies()
    for (const [k, own] of now.entries()) {
      const games = [
        { gains: play(own, now[1 - k]).gains, weight: 1 - share },
        ...strangers.map((other) => ({ gains: play(own, other).gains, weight: share / strangers.length })),
      ]
      for (let h = 0; h < histories; h++) {
        const gain = games.reduce((sum, { gains, weight }) => sum + weight * gains[h], 0)
        logits[k][h] += rate * own[h] * (1 - own[h]) * (gain - entropy * logits[k][h])
      }
    }
  }
  const [first, second] = strategies()
  const against = (own: Strategy): number => average(habits.map((other) => play(own, other).reward))
  const last = play(first, second)
  return {
    score: (last.cooperation + play(second, first).cooperation) / 2,
    start: play(start[0], start[1]).cooperation,
    measures: {
      // Reward against fixed co-players beyond that of always defecting: above 0 only by an answer to what they do.
      adapts: average([first, second].map(against)) - against(new Float64Array(histories).fill(1)),
      reward: last.reward,
    },
  }
}

/**
 * The same for all arms: at 10 and 30 the learners come to the same strategies. It is not chosen by the score, of which learners that
 * do not learn have much.
 */
const rate = 10

export default definePaper({
  id: 'co-player-inference',
  title: 'Multi-agent cooperation through in-context co-player inference',
  theme: 'multi-agent',
  claim:
    "Learners of the repeated prisoner's dilemma that also play with co-players of many kinds come to cooperate with each other more than those trained against each other alone, and than those that play with co-players of whom nothing can be inferred.",
  arms: {
    mixed: (run) => cooperation(run, { rate, strangers: habits, share: 0.5 }),
    'self-play': (run) => cooperation(run, { rate, strangers: [], share: 0 }),
    'random-players': (run) => cooperation(run, { rate, strangers: noise, share: 0.5 }),
    'tit-for-tat': (run) => cooperation(run, { rate, strangers: titForTat, share: 0.5 }),
  },
  metric: 'share of cooperation when the two learners play each other, exact, over 20 rounds',
  pairing: 'seed',
  effect: { better: 'mixed', than: ['self-play', 'random-players'], atLeast: 0.1 },
  checks: [
    { about: 'it answers what co-players do, in points a round', arm: 'mixed', of: 'adapts', atLeast: 0.1 },
    { about: 'there is nothing to answer', arm: 'random-players', of: 'adapts', atMost: 0.05 },
    { about: 'learners begin in between', arm: 'mixed', of: 'start', atLeast: 0.3, atMost: 0.7 },
  ],
  control: { positive: { better: 'tit-for-tat', than: 'self-play', atLeast: 0.1 } },
  budget: { updates: 300 },
  quick: { updates: 3 },
  simplifications: [
    'tables over the last two rounds stand for sequence models, so that little can be inferred from the history',
    'all deterministic answers to the last round stand for the pool of co-players',
    'exact policy gradients, without sampling',
  ],
})
