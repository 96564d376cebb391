import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  chainTask,
  demonstrations,
  descend,
  exactValues,
  lossGradient,
  plainRule,
  presetRule,
  reinforce,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, PrefixPolicy, TunedRun } from '../testbeds/prefix-tree/index.ts'

/** Questions, or demonstrations, of an update. */
const batch = 8
/** Updates of the warm-up and their learning rate, which all arms share. */
const warmUp = { steps: 5, learningRate: 4 }

const budget = { steps: 10 }

type ArmName = 'sasr' | 'supervised' | 'grpo' | 'in-turn' | 'half-by-chance'

/**
 * The chance that the next update is supervised. SASR compares the norm of the last supervised gradient with that at the end of the
 * warm-up: `last / (last + warm)`.
 */
const chances: Record<ArmName, (step: number, norms: { last: number; warm: number }) => number> = {
  sasr: (_, { last, warm }) => last / (last + warm),
  supervised: () => 1,
  grpo: () => 0,
  'in-turn': (step) => (step + 1) % 2,
  'half-by-chance': () => 0.5,
}

/** A supervised update on demonstrations; returns the norm of its gradient. */
function clone(policy: PrefixPolicy, shown: readonly Answer[], learningRate: number): number {
  const examples = shown.map((answer) => ({ answer, imitation: 1 }))
  return descend(policy, lossGradient(policy, examples, plainRule).gradient, { learningRate })
}

/** Demonstrations of all questions to train on. */
function trained(name: ArmName, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const task = chainTask({
    seed,
    digits: 6,
    trainDepths: [3],
    count: 24,
    known: [1.2, 1, 0.8, 0.5, 0.2],
    passAt1: 0.03,
  })
  const { policy, train, test } = task
  const data = demonstrations(task, { count: train.length, seed })
  const random = createRandom(seed, 'sasr')
  const shown = (): Answer[] => random.shuffle(data).slice(0, batch)
  const norms = { last: 0, warm: 0 }
  for (let step = 0; step < warmUp.steps; step++)
    norms.warm = norms.last = clone(policy, shown(), warmUp.learningRate)
  const start = exactValues(policy, test).passAt1
  const supervised: number[] = []
  const zeroVariance: number[] = []
  for (let step = 0; step < budget.steps; step++) {
    const chosen = Number(random.next() < chances[name](step, norms))
    supervised.push(chosen)
    if (chosen === 1) norms.last = clone(policy, shown(), learningRate)
    else {
      const { measures } = reinforce(policy, {
        rule: presetRule('grpo').rule,
        questions: train,
        steps: 1,
        batch,
        learningRate,
        seed: 1000 * seed + step,
      })
      zeroVariance.push(measures.zeroVariance)
    }
  }
  const { passAt1, entropy } = exactValues(policy, test)
  const half = Math.ceil(supervised.length / 2)
  return {
    score: passAt1,
    start,
    measures: {
      supervised: average(supervised),
      shift: average(supervised.slice(0, half)) - average(supervised.slice(-half)),
      zeroVariance: zeroVariance.length === 0 ? 0 : average(zeroVariance),
      entropy,
    },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { sasr: 512, supervised: 512, grpo: 512, 'in-turn': 256, 'half-by-chance': 512 }

const { arms, tuning } = tunedArms(learningRates, trained, {
  grid: [32, 64, 128, 256, 512, 1024, 2048],
  budget,
})
export { tuning }

export default definePaper({
  id: 'sasr',
  title:
    'Step-wise Adaptive Integration of Supervised Fine-tuning and Reinforcement Learning for Task-Specific LLMs',
  theme: 'reasoning',
  claim:
    'After a warm-up, choosing at each update between imitation and GRPO by the norm of the gradient of imitation learns more than either alone and than taking turns.',
  arms,
  metric:
    'exact pass@1 on questions of three steps that were not met, after as many updates, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'sasr', than: ['supervised', 'grpo', 'in-turn'], atLeast: 0.03 },
  checks: [
    { about: 'both kinds of updates are chosen', arm: 'sasr', of: 'supervised', atLeast: 0.1, atMost: 0.9 },
    { about: 'imitation becomes rarer', arm: 'sasr', of: 'shift', atLeast: 0.1 },
    { about: 'some groups differ in their rewards', arm: ['sasr', 'grpo'], of: 'zeroVariance', atMost: 0.95 },
    {
      about: 'no arm is saturated',
      arm: ['sasr', 'supervised', 'grpo', 'in-turn'],
      of: 'score',
      atMost: 0.95,
    },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'a softmax that is linear in operation, digit and prefix, started at pass@1 of 3% before the warm-up, stands for language models; plain gradient descent with one learning rate for both kinds of updates',
    'every question to train on has a right demonstration, as in the data sets of the paper; an update of imitation samples no answers',
    'the chance of imitation is the norm of its last gradient over the sum of that and the norm at the end of the warm-up',
  ],
})
