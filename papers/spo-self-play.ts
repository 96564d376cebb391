import { createVectorEnvironment, transformRewards } from 'agoge/environment'
import { definePaper } from 'agoge/evaluation'
import type { ArmRun } from 'agoge/evaluation'
import { a2c, a2cPresets } from 'agoge/unstable/algorithm/arrays'
import { createRandom } from 'agoge/unstable/random'
import type { Random } from 'agoge/unstable/random'
import { learnUntil } from 'agoge/unstable/training/arrays'
import { createBernoulliBandit } from 'agoge/unstable/worlds/bandit'

const responses = 8
const slots = 16
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
const indices = Array.from({ length: responses }, (_, k) => k)

/** [row, column]: how often raters prefer one response to the other. Drawn at random, so that there are cycles. */
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

/** Bradley and Terry's strengths [responses], fitted to comparisons of random pairs. */
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

/** Learns from the rewards; the policy is what was done in the second half of training. */
async function worstCase(
  { seed, budget }: ArmRun,
  table: number[][],
  rewardOf: (actions: Float32Array, slot: number) => number,
): Promise<number> {
  const plain = createVectorEnvironment(createBernoulliBandit({ arms: responses, horizon: 1 }), {
    slots,
    seed,
  })
  const environment = transformRewards(plain, (_, slot) => rewardOf(plain.actions, slot))
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
    steps += slots
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
  return worstCase(run, table, (actions, slot) => {
    const beats = (other: number): boolean => random.next() < table[actions[slot]][other]
    return actions.filter((other, k) => k !== slot && beats(other)).length / (slots - 1)
  })
}

function rewardModel(run: ArmRun): Promise<number> {
  const table = preferences(run.seed)
  const strength = strengths(table, run.budget.steps, createRandom('raters of pairs', run.seed))
  return worstCase(run, table, (actions, slot) => strength[actions[slot]])
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
  seeds: 20,
  budget: { steps: 32_000 },
  quick: { steps: 1024 },
  expect: { better: 'self-play', than: ['reward-model'] },
  standIns: ['one choice among eight responses stands for trajectories'],
})
