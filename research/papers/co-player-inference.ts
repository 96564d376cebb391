import { createMultiAgentVector, prisonersDilemma } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

/** Parallel games, steps of an episode, and number of distinct observations: the last three rounds. */
const numEnvs = 64
const rounds = 25
const histories = 5 ** 3
/** Steps of all agents in an episode. Step t of row k is at t * 2 * slots + k; row k is agent k % 2 of a game. */
const size = rounds * numEnvs * 2
const learningRate = 10
const entropy = 0.05

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

/** An episode of all games: histories, actions and rewards. */
function play(seed: number, choose: (row: number, history: number) => number) {
  const environment = createMultiAgentVector(prisonersDilemma, { numEnvs, seed })
  const history = new Int32Array(numEnvs * 2)
  const [seen, chosen, rewarded] = [new Int32Array(size), new Int8Array(size), new Float64Array(size)]
  environment.reset()
  for (let at = 0; at < size; at += numEnvs * 2) {
    for (let k = 0; k < numEnvs * 2; k++) {
      history[k] = (history[k] * 5 + environment.observations[k]) % histories
      environment.actions[k] = choose(k, history[k])
    }
    environment.step()
    seen.set(history, at)
    chosen.set(environment.actions, at)
    rewarded.set(environment.rewards, at)
  }
  return { seen, chosen, rewarded }
}

/**
 * Two learners play each other, and in `strangers` of the games a fixed opponent, drawn anew for each episode: a random
 * response to the last round. Returns the share of cooperation when the learners meet at the end.
 */
function cooperation({ seed, budget }: ArmRun, strangers: number): number {
  const random = createRandom('play', seed)
  const agents = [0, 1].map(() => ({
    logits: Float64Array.from({ length: histories }, () => 0.1 * random.normal()),
    values: new Float64Array(histories),
  }))
  const isStranger = (k: number): boolean => k >> 1 < strangers * numEnvs && k % 2 === (k >> 1) % 2
  const defects = (k: number, history: number): number =>
    random.next() < sigmoid(agents[k % 2].logits[history]) ? 1 : 0

  for (let episode = 0; episode < budget.episodes; episode++) {
    const habits = Uint8Array.from({ length: numEnvs * 5 }, () => random.int(2))
    const { seen, chosen, rewarded } = play(episode, (k, history) =>
      isStranger(k) ? habits[(k >> 1) * 5 + (history % 5)] : defects(k, history),
    )
    for (const [a, { logits, values }] of agents.entries()) {
      const gradients = new Float64Array(histories)
      for (let k = a; k < numEnvs * 2; k += 2) {
        if (isStranger(k)) continue
        let gained = 0
        for (let at = size - 2 * numEnvs + k; at >= 0; at -= 2 * numEnvs) {
          gained += rewarded[at]
          const h = seen[at]
          const p = sigmoid(logits[h])
          gradients[h] += (gained - values[h]) * (chosen[at] - p) - entropy * p * (1 - p) * logits[h]
          values[h] += 0.01 * (gained - values[h])
        }
      }
      for (let h = 0; h < histories; h++) logits[h] += (learningRate / (numEnvs * rounds)) * gradients[h]
    }
  }
  const { chosen } = play(budget.episodes, defects)
  return chosen.reduce((sum, defected) => sum + 1 - defected, 0) / size
}

export default definePaper({
  id: 'co-player-inference',
  title: 'Multi-agent cooperation through in-context co-player inference',
  theme: 'multi-agent',
  claim:
    "Learners of the repeated prisoner's dilemma that also meet co-players of many kinds come to cooperate with each other more than those trained against each other alone.",
  arms: {
    mixed: (run) => cooperation(run, 0.5),
    'self-play': (run) => cooperation(run, 0),
  },
  metric: 'share of cooperation when the two learners meet, in 64 games of 25 rounds',
  budget: { episodes: 1500 },
  quick: { episodes: 3 },
  pairing: 'seed',
  effect: { better: 'mixed', than: ['self-play'], atLeast: 0.1 },
  simplifications: [
    'tables over the last three rounds stand for sequence models',
    'habits of answering the last round stand for the pool of co-players',
  ],
})
