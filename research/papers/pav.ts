import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  chainTask,
  copyPolicy,
  passRates,
  reinforce,
  repeated,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule, PrefixPolicy, TunedRun } from '../testbeds/prefix-tree/index.ts'

/** The verifier has seen this many answers of the prover from each prefix. */
const verifierAnswers = 16
/** Weight of the progress beside the outcome. */
const weight = 2

/** Success from each prefix of the first `count` questions under the policy as it is now, as the share of a few answers. */
function estimateValues(policy: PrefixPolicy, count: number, random: Random): Float64Array {
  const { vocabulary, children, rewards, roots } = policy.tree
  const values = new Float64Array(roots[count])
  for (let node = values.length - 1; node >= 0; node--) {
    const row = policy.logprobs(node)
    for (let at = node * vocabulary; at < (node + 1) * vocabulary; at++)
      values[node] += Math.exp(row[at]) * (children[at] < 0 ? rewards[at] : values[children[at]])
  }
  return values.map((value) => {
    let successes = 0
    for (let n = 0; n < verifierAnswers; n++) successes += Number(random.next() < value)
    return successes / verifierAnswers
  })
}

/** Change of the prover's success by each token. The prover takes the best of `best` answers. */
function progress({ nodes, score }: Answer, values: Float64Array, best: number): number[] {
  const success = (node: number): number => 1 - (1 - values[node]) ** best
  return nodes.map((node, t) => (t + 1 < nodes.length ? success(nodes[t + 1]) : score) - success(node))
}

/** How many answers the prover chooses from, and whose answers they are. */
const provers = {
  pav: { best: 4, of: 'initial' },
  outcome: undefined,
  'own-progress': { best: 1, of: 'current' },
  'initial-progress': { best: 1, of: 'initial' },
  'strong-prover': { best: 64, of: 'initial' },
} as const

const budget = { steps: 12 }

/** REINFORCE on the outcome, with the progress of each step. Adds the mean size of the progress to `sizes`. */
const ruleOf = (gainsOf: (answer: Answer) => number[], sizes: number[]): LearningRule => ({
  advantage: (groups) =>
    groups.map((group) => {
      const mean = average(group.map(({ reward }) => reward))
      return group.map((answer) => {
        const gains = gainsOf(answer)
        sizes.push(average(gains.map(Math.abs)))
        return gains.map((gain) => answer.reward - mean + weight * gain)
      })
    }),
  loss: { name: 'importance-sampling' },
  aggregation: { mode: 'constant', length: 1 },
})

/** The mean over eight trainings from the same start on the same task. */
function trained(name: keyof typeof provers, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const prover = provers[name]
  const task = chainTask({ seed, trainDepths: [4], count: 16, passAt1: 0.02 })
  const { train, test } = task
  return repeated(8, (repeat) => {
    const policy = copyPolicy(task.policy)
    const random = createRandom(seed, `verifier:${repeat}`)
    let values = estimateValues(policy, train.length, random)
    const sizes: number[] = []
    const curve: number[] = []
    const gainsOf = (answer: Answer): number[] =>
      prover === undefined ? answer.tokens.map(() => 0) : progress(answer, values, prover.best)
    const { measures } = reinforce(policy, {
      rule: ruleOf(gainsOf, sizes),
      questions: train,
      steps: budget.steps,
      groupSize: 4,
      learningRate,
      seed: seed + 1e6 * repeat,
      onStep() {
        curve.push(average(passRates(policy, test)))
        if (prover?.of === 'current') values = estimateValues(policy, train.length, random)
      },
    })
    return {
      score: average(curve),
      start: average(passRates(task.policy, test)),
      measures: { progress: average(sizes), zeroVariance: measures.zeroVariance, last: curve.at(-1)! },
    }
  })
}

/** By `tune-paper.ts` on seeds 101 to 120, the best of the grid for each arm. */
const learningRates = {
  pav: 128,
  outcome: 128,
  'own-progress': 128,
  'initial-progress': 128,
  'strong-prover': 64,
}

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [8, 16, 32, 64, 128, 256, 512], budget })
export { tuning }

export default definePaper({
  id: 'pav',
  title: 'Rewarding Progress: Scaling Automated Process Verifiers for LLM Reasoning',
  theme: 'rewards',
  claim:
    'Rewarding each step with the change of the success of a prover, the best of 4 answers of the initial policy, beside the outcome teaches more than the outcome alone, and than the progress of the policy itself, as it is or as it was at first.',
  arms,
  metric:
    'exact pass@1 on held-out questions of four steps, mean over the updates and over eight trainings of a task, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'pav', than: ['outcome', 'own-progress', 'initial-progress'], atLeast: 0.03 },
  checks: [
    { about: 'steps are rewarded', arm: 'pav', of: 'progress', atLeast: 0.02 },
    { about: 'steps are not rewarded', arm: 'outcome', of: 'progress', atMost: 0 },
    { about: 'the outcome is sparse', arm: 'outcome', of: 'zeroVariance', atLeast: 0.1 },
    { about: 'the policy starts weak', arm: 'pav', of: 'start', atLeast: 0.005, atMost: 0.1 },
    {
      about: 'no arm is saturated',
      arm: ['pav', 'outcome', 'own-progress', 'initial-progress'],
      of: 'score',
      atMost: 0.95,
    },
  ],
  control: { positive: { better: 'outcome', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'a softmax over the prefixes of chains of four operations, started at pass@1 of 2%, stands for a language model on mathematics',
    'the verifier is a table of the shares of 16 answers that succeed from each prefix, not a network; what it costs is not counted, as in the paper: close to by construction it beats the outcome alone',
    'search with the verifier is left out',
    'a first plan was taken back: its steps had been changed after a look at other seeds',
  ],
})
