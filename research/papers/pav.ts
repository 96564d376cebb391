import { createRandom } from 'agoge/engine'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { chainTask, exactValues, reinforce } from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule, PrefixPolicy, Tuning } from '../testbeds/prefix-tree/index.ts'

/** The verifier has seen this many answers of the prover from each prefix. */
const verifierAnswers = 16
/** Weight of the progress beside the outcome. */
const weight = 2

/** Success from each prefix under the policy as it is now, as the share of a few answers: `values[node]`. */
function estimateValues(policy: PrefixPolicy, seed: number): Float64Array {
  const { vocabulary, children, rewards, roots } = policy.tree
  const values = new Float64Array(roots[roots.length - 1])
  for (let node = values.length - 1; node >= 0; node--) {
    const row = policy.logprobs(node)
    for (let at = node * vocabulary; at < (node + 1) * vocabulary; at++)
      values[node] += Math.exp(row[at]) * (children[at] < 0 ? rewards[at] : values[children[at]])
  }
  const random = createRandom(seed, 'verifier')
  return values.map((value) => {
    let successes = 0
    for (let n = 0; n < verifierAnswers; n++) successes += Number(random.next() < value)
    return successes / verifierAnswers
  })
}

/** Change of the prover's success by each token. The prover takes the best of `best` answers of the initial policy. */
function progress(values: Float64Array, best: number): (answer: Answer) => number[] {
  const success = (value: number): number => 1 - (1 - value) ** best
  return ({ nodes, score }) =>
    nodes.map(
      (node, t) => (t + 1 < nodes.length ? success(values[nodes[t + 1]]) : score) - success(values[node]),
    )
}

const armsOf = {
  pav: { best: 4 },
  outcome: { best: 0 },
  'own-progress': { best: 1 },
  'strong-prover': { best: 64 },
} satisfies Record<string, { best: number }>
type ArmName = keyof typeof armsOf

const budget = { steps: 4 }

function trained(name: ArmName, learningRate: number, { seed, budget }: Omit<ArmRun, 'signal'>): ArmResult {
  const { best } = armsOf[name]
  const { policy, train, test } = chainTask({ seed, trainDepths: [4], count: 24, passAt1: 0.02 })
  const start = exactValues(policy, test).passAt1
  const gains = best === 0 ? undefined : progress(estimateValues(policy, seed), best)
  let [size, steps] = [0, 0]
  const rule: LearningRule = {
    advantage: (groups) =>
      groups.map((group) => {
        const mean = average(group.map(({ reward }) => reward))
        const rows = group.map((answer) => gains?.(answer) ?? answer.tokens.map(() => 0))
        for (const row of rows) for (const gain of row) [size, steps] = [size + Math.abs(gain), steps + 1]
        return group.map(({ reward }, m) => rows[m].map((gain) => reward - mean + weight * gain))
      }),
    loss: { name: 'importance-sampling' },
    aggregation: { mode: 'constant', length: 1 },
  }
  const { measures } = reinforce(policy, {
    rule,
    questions: train,
    steps: budget.steps,
    groupSize: 4,
    learningRate,
    seed,
  })
  return {
    score: exactValues(policy, test).passAt1,
    start,
    measures: { progress: size / steps, zeroVariance: measures.zeroVariance },
  }
}

/** The best of the grid of `tuning` on seeds 121 to 124. */
const rates: Record<ArmName, number> = { pav: 256, outcome: 128, 'own-progress': 256, 'strong-prover': 32 }
const names = Object.keys(armsOf) as ArmName[]

export const tuning: Tuning = {
  grid: [16, 32, 64, 128, 256, 512, 1024],
  arms: Object.fromEntries(
    names.map((name) => [
      name,
      ({ seed, learningRate }) => trained(name, learningRate, { seed, budget }).score,
    ]),
  ),
}

export default definePaper({
  id: 'pav',
  title: 'Rewarding Progress: Scaling Automated Process Verifiers for LLM Reasoning',
  theme: 'rewards',
  claim:
    'Rewarding each step with the change of the success of a prover, the best of 4 answers of the initial policy, beside the outcome teaches more than the outcome alone, and than the progress of the policy itself.',
  arms: {
    ...(Object.fromEntries(
      names.map((name) => [name, (run: ArmRun) => trained(name, rates[name], run)]),
    ) as Record<ArmName, (run: ArmRun) => ArmResult>),
    untrained: (run) => trained('outcome', 0, run),
  },
  metric: 'exact pass@1 on held-out questions of four steps, after as many answers of the policy',
  pairing: 'seed',
  effect: { better: 'pav', than: ['outcome', 'own-progress'], atLeast: 0.03 },
  checks: [
    { about: 'steps are rewarded', arm: 'pav', of: 'progress', atLeast: 0.02 },
    { about: 'steps are not rewarded', arm: 'outcome', of: 'progress', atMost: 0 },
    { about: 'the outcome is sparse', arm: 'outcome', of: 'zeroVariance', atLeast: 0.1 },
    { about: 'the policy starts weak', arm: 'pav', of: 'start', atLeast: 0.005, atMost: 0.1 },
  ],
  control: { positive: { better: 'outcome', than: 'untrained', atLeast: 0.03 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'a softmax over the prefixes of chains of four operations, started at pass@1 of 2%, stands for a language model on mathematics',
    'the verifier is a table of the shares of 16 answers that succeed from each prefix, not a network; what it costs is not counted, as in the paper',
    'search with the verifier is left out',
  ],
})
