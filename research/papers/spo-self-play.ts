import {
  createVectorEnvironment,
  transformRewards,
  a2c,
  a2cPresets,
  learnUntil,
  createBernoulliBandit,
} from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'

const responses = 8
const numEnvs = 16
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
const indices = Array.from({ length: responses }, (_, k) => k)

/** [row, column]: how often raters prefer one response to the other. Drawn at random, so there are cycles. */
function preferences(seed: number): number[][] {
  const random = createRandom('raters', seed)
  const table = indices.map(() => indices.map(() => 0.5))
  for (const i of indices)
    for (let j = 0; j < i; j++) {
      table[i][j] = sigmoid(2 * random.normal())
      table[j][i] = 1 - table[i][j]
    }
  return table
}

/** Bradley-Terry strengths [responses], fitted to comparisons of random pairs. */
function strengths(table: number[][], comparisons: number, random: Random): Float64Array {
  const wins = indices.map(() => new Float64Array(responses))
  for (let k = 0; k < comparisons; k++) {
    const [i, j] = random.shuffle(indices)
    if (random.next() < table[i][j]) wins[i][j]++
    else wins[j][i]++
  }
  const strength = new Float64Array(responses)
  for (let sweep = 0; sweep < 2000; sweep++)
    for (const i of indices)
      for (const j of indices) {
        const expected = (wins[i][j] + wins[j][i]) * sigmoid(strength[i] - strength[j])
        strength[i] += ((wins[i][j] - expected) * responses) / comparisons
      }
  return strength
}

/** Learns from the rewards; the policy is the distribution of actions in the second half of training. */
async function worstCase(
  { seed, budget }: ArmRun,
  table: number[][],
  rewardOf: (actions: Float32Array, envIndex: number) => number,
): Promise<number> {
  const plain = createVectorEnvironment(createBernoulliBandit({ arms: responses, horizon: 1 }), {
    numEnvs,
    seed,
  })
  const environment = transformRewards(plain, (_, envIndex) => rewardOf(plain.actions, envIndex))
  environment.reset()
  const agent = await a2c({
    ...a2cPresets['sb3-zoo-cartpole'],
    rolloutSteps: 4,
    optimiser: 'adam',
    learningRate: 0.02,
    entropy: 0.05,
    hidden: [],
  })(environment, { seed, totalSteps: budget.steps })
  const chosen = new Float64Array(responses)
  let steps = 0
  function learn() {
    steps += numEnvs
    if (steps > budget.steps / 2) for (const action of plain.actions) chosen[action]++
    return agent.learn()
  }
  await learnUntil(environment, { ...agent, learn }, { steps: budget.steps })
  await agent.dispose()
  const policy = chosen.map((count) => count / chosen.reduce((a, b) => a + b, 0))
  return Math.min(...indices.map((j) => policy.reduce((sum, p, i) => sum + p * table[i][j], 0)))
}

function selfPlay(run: ArmRun): Promise<number> {
  const table = preferences(run.seed)
  const random = createRandom('raters of play', run.seed)
  return worstCase(run, table, (actions, envIndex) => {
    const beats = (other: number): boolean => random.next() < table[actions[envIndex]][other]
    return actions.filter((other, k) => k !== envIndex && beats(other)).length / (numEnvs - 1)
  })
}

function rewardModel(run: ArmRun): Promise<number> {
  const table = preferences(run.seed)
  const strength = strengths(table, run.budget.steps, createRandom('raters of pairs', run.seed))
  return worstCase(run, table, (actions, envIndex) => strength[actions[envIndex]])
}

export default definePaper({
  id: 'spo-self-play',
  title: 'A Minimaximalist Approach to Reinforcement Learning from Human Feedback',
  theme: 'rewards',
  claim:
    'Where preferences go in circles, rewarding each sample by its share of wins against the others of the same policy gives a policy that is harder to beat than one optimised for a reward model.',
  arms: { 'self-play': selfPlay, 'reward-model': rewardModel },
  metric:
    'share of wins against whichever single response beats the policy most; 0.5 is the best there can be',
  budget: { steps: 32_000 },
  quick: { steps: 1024 },
  pairing: 'seed',
  effect: { better: 'self-play', than: ['reward-model'], atLeast: 0.05 },
  simplifications: ['one choice among eight responses stands for trajectories'],
})
