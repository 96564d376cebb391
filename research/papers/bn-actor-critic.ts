import { createMultiAgentVector, climbing, penaltyGame } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

const games = [
  { definition: climbing, best: 11 },
  { definition: penaltyGame, best: 10 },
]
const choices = [0, 1, 2]
const numEnvs = 16
const learningRate = 0.05
const entropy = 0.3

function softmax(logits: number[]): number[] {
  const weights = logits.map((logit) => Math.exp(logit - Math.max(...logits)))
  const sum = weights.reduce((a, b) => a + b)
  return weights.map((weight) => weight / sum)
}

/** Raises the log-probability of the action by its advantage, with a small entropy bonus. */
function improve(logits: number[], policy: number[], action: number, advantage: number): void {
  const meanLog = policy.reduce((sum, p) => sum + p * Math.log(p), 0)
  for (const a of choices) {
    const gradient = advantage * ((a === action ? 1 : 0) - policy[a])
    logits[a] += (learningRate / numEnvs) * (gradient - entropy * policy[a] * (Math.log(policy[a]) - meanLog))
  }
}

/**
 * Policy gradient of two softmax tables. The second agent sees what the first does through an edge of strength
 * `edge(progress)`, which adds logits of its own for each action of the first. The score is the payoff of the most
 * likely actions without the edge, relative to the best payoff, mean over games.
 */
function payoff({ seed, budget }: ArmRun, edge: (progress: number) => number): number {
  const scores = games.map(({ definition, best }) => {
    const random = createRandom('play', definition.name, seed)
    const environment = createMultiAgentVector(definition, { numEnvs, seed })
    environment.reset()
    const { actions, rewards } = environment
    const table = () => choices.map(() => 0.5 * random.normal())
    const [first, second] = [table(), table()]
    const given = choices.map(() => choices.map(() => 0))
    const policyOfSecond = (strength: number, seen: number) =>
      softmax(second.map((logit, a) => logit + strength * given[seen][a]))

    for (let update = 0; update < budget.updates; update++) {
      const strength = edge(update / budget.updates)
      const policy = softmax(first)
      const replies = choices.map((seen) => policyOfSecond(strength, seen))
      for (let i = 0; i < numEnvs; i++) {
        actions[2 * i] = random.weighted(policy)
        actions[2 * i + 1] = random.weighted(replies[actions[2 * i]])
      }
      environment.step()
      const rewarded = Array.from({ length: numEnvs }, (_, i) => rewards[2 * i])
      for (let i = 0; i < numEnvs; i++) {
        const [one, two] = actions.subarray(2 * i, 2 * i + 2)
        const advantage = rewarded[i] - average(rewarded)
        improve(first, policy, one, advantage)
        improve(second, replies[one], two, advantage)
        if (strength > 0) improve(given[one], replies[one], two, strength * advantage)
      }
    }
    const likeliest = (logits: number[]): number => logits.indexOf(Math.max(...logits))
    for (let i = 0; i < numEnvs; i++) actions.set([likeliest(first), likeliest(second)], 2 * i)
    environment.step()
    return rewards[0] / best
  })
  return average(scores)
}

export default definePaper({
  id: 'bn-actor-critic',
  title:
    'Context-Aware Bayesian Network Actor-Critic Methods for Cooperative Multi-Agent Reinforcement Learning',
  theme: 'multi-agent',
  claim:
    'A joint policy in which one agent sees what the other does, through an edge that fades away during training, ends as independent policies that coordinate better than those trained independently.',
  arms: {
    'fading-edge': (run) => payoff(run, (progress) => Math.max(0, 1 - progress / 0.75)),
    independent: (run) => payoff(run, () => 0),
  },
  metric: 'payoff of both agents acting alone in the climbing and the penalty game, as a share of the best',
  budget: { updates: 4000 },
  quick: { updates: 20 },
  pairing: 'seed',
  effect: { better: 'fading-edge', than: ['independent'], atLeast: 0.05 },
  simplifications: [
    'two agents and one edge that fades on a schedule stand for a learned graph over many agents',
  ],
})
