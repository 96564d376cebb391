import { average } from 'agoge/statistics'
import { copyWeights, remember, withTextModel, type Run, type TextModel } from './text-model.ts'
import { passAtK, scoreExactly, type ExactScore } from './exact-score.ts'
import { joined, sampleTiny } from './sample.ts'
import type { TinyQuestion, TinyTask } from './tasks.ts'
import { copyOf, trainTiny, type TinyStep, type TrainSettings } from './train.ts'
import { warmStart, type WarmStartOptions, type WarmStartReport } from './warm-start.ts'

export interface TestbedOptions {
  /** The task of a seed. */
  task: (seed: number) => TinyTask
  /** How the common start is made. */
  warm?: Omit<WarmStartOptions, 'seed'>
  /** Default: 32. */
  width?: number
  /** Default: 2. */
  layers?: number
}

/** What an arm changes: it trains the model by whatever means. */
export interface TinyRun {
  model: TextModel
  task: TinyTask
  seed: number
  /** `trainTiny` with the run's seed. */
  train: (settings: Omit<TrainSettings, 'seed'>) => Promise<Omit<TinyStep, 'groups'>[]>
  /** Exact pass@1 on questions; default: the test split. */
  score: (questions?: readonly TinyQuestion[]) => Promise<ExactScore>
}

/** Trains with one seed and scores. */
export type Testbed = (seed: number, arm: (run: TinyRun) => Promise<unknown>) => Promise<TinyResult>

/** The arms of a paper, with the learning rate open, for `tune.ts`. */
export interface TinyExperiment<Name extends string = string> {
  testbed: Testbed
  arms: Readonly<Record<Name, (run: TinyRun, learningRate: number) => Promise<unknown>>>
}

/** Scores on the test split. */
export interface TinyResult {
  warm: WarmStartReport
  /** Exact pass@1 before and after, in [0, 1], and its gain in points of 100. */
  start: number
  end: number
  gain: number
  /** pass@8 before and after. */
  startPassAt8: number
  endPassAt8: number
  /** Share of the test questions answered right greedily, in the first turn. */
  greedy: number
  /** Largest amount by which `end` may be too low. */
  leftOut: number
  /** Estimated divergence KL(end || start) of answers to test questions, in nats per answer, from four answers each. */
  kl: number
  /** Seconds of the arm, without the common start. */
  seconds: number
}

/**
 * An experiment whose arms share, by seed, the questions, the initial weights and a supervised start of fixed
 * competence, and are scored exactly on the test split.
 *
 * @example
 * const testbed = createTestbed({ task: (seed) => chainTask({ seed }) })
 * const { gain } = await testbed(1, ({ train }) => train({ algorithm: 'dr-grpo', learningRate: 1e-3 }))
 */
export function createTestbed({ task: taskOf, warm = {}, width = 32, layers = 2 }: TestbedOptions): Testbed {
  const optionsOf = (task: TinyTask, seed: number) => ({
    alphabet: task.alphabet,
    window: task.window,
    seed,
    width,
    layers,
  })
  const begin = remember(({ seed }: Run) => {
    const task = taskOf(seed)
    return withTextModel(optionsOf(task, seed), async (model) => {
      const report = await warmStart(model, task, { ...warm, seed })
      return { task, weights: copyWeights(model), report, before: await scoreExactly(model, task, task.test) }
    })
  })
  return async (seed, arm) => {
    const { task, weights, report, before } = await begin({ seed, budget: {} })
    return withTextModel({ ...optionsOf(task, seed), weights }, async (model) => {
      const began = performance.now()
      const score = (questions = task.test): Promise<ExactScore> => scoreExactly(model, task, questions)
      await arm({
        model,
        task,
        seed,
        train: (settings) => trainTiny(model, task, { ...settings, seed }),
        score,
      })
      const after = await score()
      return {
        warm: report,
        start: before.passAt1,
        end: after.passAt1,
        gain: 100 * (after.passAt1 - before.passAt1),
        startPassAt8: passAtK(before, 8),
        endPassAt8: passAtK(after, 8),
        leftOut: after.leftOut,
        greedy: await greedyAccuracy(model, task),
        kl: await divergence(model, task, weights),
        seconds: (performance.now() - began) / 1000,
      }
    })
  }
}

async function greedyAccuracy(model: TextModel, task: TinyTask): Promise<number> {
  const settings = { name: 'greedy', seed: 0, groupSize: 1, temperature: 0 }
  const groups = await sampleTiny(model, { ...task, turns: 1 }, task.test, settings)
  return average(groups.map(([answer]) => answer.reward))
}

/** Mean over sampled answers of the log-probability of what the model wrote minus that under the start. */
async function divergence(model: TextModel, task: TinyTask, weights: Float32Array): Promise<number> {
  const groups = await sampleTiny(model, task, task.test, { name: 'divergence', seed: 0, groupSize: 4 })
  const answers = groups.flat()
  const start = copyOf(model, weights)
  try {
    const rows = await start.backend.forward(answers.map(({ turns }) => joined(turns)))
    return average(
      answers.map(({ turns }, i) => {
        let sum = 0
        let at = 0
        for (const { read, tokens, logprobs } of turns) {
          at += read.length
          for (let t = 0; t < tokens.length; t++) sum += logprobs[t] - rows[i][at + t]
          at += tokens.length
        }
        return sum
      }),
    )
  } finally {
    await start.backend.dispose()
  }
}
