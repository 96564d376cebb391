import { average } from 'agoge/statistics'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  createPrefixPolicy,
  createPrefixTree,
  lossGradient,
  descend,
  plainRule,
  sampleGroup,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, PrefixPolicy, TunedRun } from '../testbeds/prefix-tree/index.ts'

const responses = 8
const groupSize = 16
const budget = { steps: 150 }
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
const indices = Array.from({ length: responses }, (_, k) => k)

/** [row, column]: how often raters prefer one response to the other. Drawn at random, so there are cycles. */
function preferences(seed: number): number[][] {
  const random = createRandom(seed, 'raters')
  const table = indices.map(() => indices.map(() => 0.5))
  for (const i of indices)
    for (let j = 0; j < i; j++) {
      table[i][j] = sigmoid(2 * random.normal())
      table[j][i] = 1 - table[i][j]
    }
  return table
}

/** Bradley-Terry strengths [responses], fitted to comparisons of random pairs with a little weight decay. */
function strengths(table: number[][], comparisons: number, random: Random): number[] {
  const wins = indices.map(() => new Float64Array(responses))
  for (let k = 0; k < comparisons; k++) {
    const [i, j] = random.shuffle(indices)
    if (random.next() < table[i][j]) wins[i][j]++
    else wins[j][i]++
  }
  const strength = indices.map(() => 0)
  for (let sweep = 0; sweep < 300; sweep++)
    for (const i of indices) {
      let slope = -0.01 * strength[i]
      for (const j of indices)
        slope += (wins[i][j] - (wins[i][j] + wins[j][i]) * sigmoid(strength[i] - strength[j])) / comparisons
      strength[i] += 4 * slope
    }
  return strength
}

const shares = (policy: PrefixPolicy): number[] =>
  Array.from(policy.logprobs(0).subarray(0, responses), (logprob) => Math.exp(logprob))

/** Share of wins of a distribution over responses against the response that beats it most. */
const worstCase = (policy: readonly number[], table: number[][]): number =>
  Math.min(...indices.map((j) => policy.reduce((sum, p, i) => sum + p * table[i][j], 0)))

/** Comparisons that an update of self-play uses; reward models are fitted to as many in all. */
const comparisons = (groupSize * (groupSize - 1)) / 2

type ArmName = 'self-play' | 'reward-model' | 'entropic-reward-model'

function trained(name: ArmName, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const table = preferences(seed)
  const random = createRandom(seed, 'self-play')
  const question = { key: 'only', maxLength: 1, solutions: [], reward: () => 0 }
  const policy = createPrefixPolicy(createPrefixTree([question], responses))
  const start = worstCase(shares(policy), table)
  const strength =
    name === 'self-play' ? [] : strengths(table, comparisons * budget.steps, createRandom(seed, 'pairs'))
  const rewards = (group: readonly Answer[]): number[] => {
    const said = group.map(({ tokens }) => tokens[0])
    if (name !== 'self-play') return said.map((response) => strength[response])
    const won = said.map(() => 0)
    for (let a = 0; a < said.length; a++)
      for (let b = 0; b < a; b++) won[random.next() < table[said[a]][said[b]] ? a : b]++
    return won.map((count) => count / (said.length - 1))
  }
  const entropy = name === 'entropic-reward-model' ? 0.5 : 0
  const mean = indices.map(() => 0)
  for (let step = 0; step < budget.steps; step++) {
    const group = sampleGroup(policy, 0, random, { size: groupSize })
    const earned = rewards(group)
    const examples = group.map((answer, m) => ({ answer, advantage: earned[m] - average(earned) }))
    const rule = { ...plainRule, exactEntropy: entropy }
    descend(policy, lossGradient(policy, examples, rule).gradient, { learningRate })
    for (const [k, share] of shares(policy).entries()) mean[k] += share / budget.steps
  }
  const best = Math.max(...indices.map((k) => Math.min(...table[k])))
  return {
    score: worstCase(mean, table),
    start,
    measures: { largest: Math.max(...mean), bestSingle: best },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { 'self-play': 1, 'reward-model': 0.1, 'entropic-reward-model': 10 }

const { arms, tuning } = tunedArms(learningRates, trained, {
  grid: [0.03, 0.1, 0.3, 1, 3, 10, 30],
  budget,
})
export { tuning }

export default definePaper({
  id: 'spo-self-play',
  title: 'A Minimaximalist Approach to Reinforcement Learning from Human Feedback',
  theme: 'rewards',
  claim:
    'Where preferences go in circles, a reward for each sample by its share of wins against the others of the same policy gives a policy that is harder to beat than one optimised for a reward model.',
  arms,
  metric:
    'exact share of wins of the mean policy against whichever single response beats it most; 0.5 is the best there can be',
  pairing: 'seed',
  effect: { better: 'self-play', than: ['reward-model', 'entropic-reward-model'], atLeast: 0.03 },
  checks: [
    {
      about: 'no single response beats all others: preferences go in circles',
      arm: 'self-play',
      of: 'bestSingle',
      atMost: 0.45,
    },
    { about: 'the reward model moves the policy', arm: 'reward-model', of: 'largest', atLeast: 0.2 },
    { about: 'self-play mixes responses', arm: 'self-play', of: 'largest', atMost: 0.8 },
  ],
  control: { positive: { better: 'self-play', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 5 },
  simplifications: [
    'one choice among eight responses stands for trajectories, and a softmax over these for a policy',
    'that self-play comes close to the best mixture in the long run is a theorem; what is measured is whether it does within the budget',
    'the mean policy of all updates is judged, for every arm; a reward model is fitted to as many comparisons as self-play asks for, of pairs drawn evenly',
  ],
})
