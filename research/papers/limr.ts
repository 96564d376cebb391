import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import { chainTask, exactValues, presetRule, reinforce, tunedArms } from '../testbeds/prefix-tree/index.ts'
import type { TunedRun } from '../testbeds/prefix-tree/index.ts'

const poolSize = 48
const batch = 8
const budget = { steps: 18 }

/** A pool of chains of one to four operations, some known well and some hardly, and as many others to test on. */
const poolOf = (seed: number) =>
  chainTask({ seed, trainDepths: [1, 2, 3, 4], known: [2, 1, 0.2], count: poolSize, passAt1: 0.2 })

/** RL on a set, pass after pass. Returns the mean reward of each question in each pass. */
function train(
  { policy }: ReturnType<typeof poolOf>,
  set: readonly number[],
  learningRate: number,
  { seed, budget }: TunedRun,
) {
  const curves = new Map<number, number[]>(set.map((question) => [question, []]))
  const { measures } = reinforce(policy, {
    rule: presetRule('grpo').rule,
    questions: set,
    steps: budget.steps,
    batch,
    learningRate,
    seed,
    onStep(_, __, groups) {
      for (const group of groups)
        curves.get(group[0].question)?.push(average(group.map(({ reward }) => reward)))
    },
  })
  return { curves, measures }
}

/** How close each curve is to the mean curve, normalised by the distance of the mean curve from 1 (LIMR, eq. 1). */
function alignments(curves: readonly number[][]): number[] {
  const passes = Math.min(...curves.map((curve) => curve.length))
  const centre = Array.from({ length: passes }, (_, k) => average(curves.map((curve) => curve[k])))
  const scale = centre.reduce((sum, value) => sum + (1 - value) ** 2, 0)
  return curves.map((curve) => 1 - centre.reduce((sum, value, k) => sum + (curve[k] - value) ** 2, 0) / scale)
}

type ArmName = 'aligned' | 'full' | 'random-third' | 'medium'

/** Which questions an arm trains on. `aligned` needs a run on all of them first. */
function choose(name: ArmName, learningRate: number, run: TunedRun): number[] {
  const pool = poolOf(run.seed)
  const third = poolSize / 3
  if (name === 'full') return pool.train
  if (name === 'random-third') return createRandom(run.seed, 'third').shuffle(pool.train).slice(0, third)
  const scores =
    name === 'medium'
      ? exactValues(pool.policy, pool.train).passByQuestion.map((pass) => pass * (1 - pass))
      : alignments([...train(pool, pool.train, learningRate, run).curves.values()])
  return pool.train.toSorted((a, b) => scores[b] - scores[a]).slice(0, third)
}

function trained(name: ArmName, learningRate: number, run: TunedRun): ArmResult {
  const set = choose(name, learningRate, run)
  const task = poolOf(run.seed)
  const start = exactValues(task.policy, task.test).passAt1
  const { passByQuestion } = exactValues(task.policy, set)
  const { measures } = train(task, set, learningRate, run)
  return {
    score: exactValues(task.policy, task.test).passAt1,
    start,
    measures: {
      startOfSet: average(passByQuestion),
      spreadOfSet: average(passByQuestion.map((pass) => pass * (1 - pass))),
      zeroVariance: measures.zeroVariance,
    },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { aligned: 64, full: 32, 'random-third': 64, medium: 128 }

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [8, 16, 32, 64, 128, 256], budget })
export { tuning }

export default definePaper({
  id: 'limr',
  title: 'LIMR: Less is More for RL Scaling',
  theme: 'reasoning',
  claim:
    'The third of the questions whose rewards rise most as the mean does teaches more, in as many steps, than all questions and than a random third.',
  arms,
  metric:
    'exact pass@1 on questions of one to four steps that were not met, after as many answers, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'aligned', than: ['full', 'random-third'], atLeast: 0.02 },
  checks: [
    {
      about: 'what is chosen is less one-sided than all questions',
      arm: 'aligned',
      of: 'spreadOfSet',
      atLeast: 0.13,
    },
    { about: 'all questions', arm: 'full', of: 'spreadOfSet', atMost: 0.13 },
    { about: 'many groups of the pool have zero variance', arm: 'full', of: 'zeroVariance', atLeast: 0.2 },
    { about: 'no arm is saturated', arm: ['aligned', 'full'], of: 'score', atMost: 0.97 },
  ],
  control: { positive: { better: 'full', than: 'untrained', atLeast: 0.1 }, same: 'full' },
  budget,
  quick: { steps: 6 },
  simplifications: [
    'a pool of 48 questions for a softmax that is linear in operation, digit and prefix stands for 8523 problems and a language model',
    'the run that the choice is made from does not count towards the budget, as in the paper',
  ],
})
