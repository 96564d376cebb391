import { createRandom, type Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import type { Question } from './attempts.ts'
import { type Chains, createChains } from './chains.ts'
import { type Example, learnExamples, examine } from './learn-answers.ts'
import {
  copyWeights,
  remember,
  type Run,
  type TextModel,
  type TextModelOptions,
  withTextModel,
} from '../testbeds/tiny-transformer/text-model.ts'

interface WarmStart<R extends Run> {
  model: (run: R) => Omit<TextModelOptions, 'seed'>
  /** The state from which all arms start. */
  teach: (model: TextModel, run: R) => Promise<unknown>
  /** The score of a model, on the same questions each time. */
  test: (model: TextModel, run: R) => Promise<number>
}

/**
 * An experiment whose arms all start from the same model, which is created from the seed, taught and tested. Arms with
 * the same seed share that start (computed once per process). They are scored by their improvement over it, so that a
 * lucky start does not count.
 *
 * @returns a function of a run and of its arm's training: the score afterwards minus the score before.
 */
export function warmStarted<R extends Run>({ model: options, teach, test }: WarmStart<R>) {
  const begin = remember((run: R) =>
    withTextModel({ ...options(run), seed: run.seed }, async (model) => {
      await teach(model, run)
      return { weights: copyWeights(model), before: await test(model, run) }
    }),
  )
  return async (run: R, learn: (model: TextModel) => Promise<unknown>): Promise<number> => {
    const { weights, before } = await begin(run)
    return withTextModel({ ...options(run), seed: run.seed, weights }, async (model) => {
      await learn(model)
      return (await test(model, run)) - before
    })
  }
}

/** The solution of a question, to be cloned. */
export function solutionExample({ symbols }: TextModel, { prompt, solution }: Question, weight = 1): Example {
  const tokens = [...symbols.encode(solution), symbols.end]
  return { prompt: symbols.encode(prompt), tokens: Int32Array.from(tokens), imitation: weight }
}

interface FineTuneSettings {
  steps: number
  learningRate: number
  seed: number
  /** Questions per step. Default: 32. */
  batch?: number
}

/**
 * Supervised learning of the solutions of questions drawn anew for each step.
 *
 * @returns the mean cross-entropy of the last ten steps, in nats per token.
 */
export async function fineTuneOnSolutions(
  model: TextModel,
  question: (random: Random) => Question,
  { steps, learningRate, seed, batch = 32 }: FineTuneSettings,
): Promise<number> {
  const random = createRandom(seed, 'imitate-solutions')
  const losses: number[] = []
  for (let step = 0; step < steps; step++) {
    const examples = Array.from({ length: batch }, () => solutionExample(model, question(random)))
    const rate = learningRate * Math.min(1, (step + 1) / 10)
    losses.push((await learnExamples(model, examples, { learningRate: rate })).loss)
  }
  return average(losses.slice(-10))
}

interface ChainExperiment<R extends Run> {
  /** Most operations of a question. Default: 3. */
  places?: number
  /** Further characters beside those of chains. */
  symbols?: string
  /** Most tokens of prompt and answer together. Default: 32. */
  window?: number
  /** Numbers of operations of the training questions, or a custom warm-up; `budget.warm` updates of 32 questions. */
  taught: readonly number[] | ((chains: Chains, run: R) => (random: Random) => Question)
  /** Numbers of operations of the test questions, which are never used for training, or a custom test. */
  tested: readonly number[] | ((model: TextModel, chains: Chains, run: R) => Promise<number>)
}

/**
 * `warmStarted` on chains of operations on digits, which differ by seed. The score is the accuracy of four answers to
 * each of 96 questions. Default: questions of the test split.
 */
export function warmStartedOnChains<R extends Run>(experiment: ChainExperiment<R>) {
  const { places = 3, symbols = '', window = 32, taught, tested } = experiment
  const chainsOf = ({ seed }: R): Chains => createChains(seed, { places })
  const gain = warmStarted<R>({
    model: (run) => ({ alphabet: chainsOf(run).alphabet + symbols, window }),
    teach(model, run) {
      const chains = chainsOf(run)
      const draw =
        typeof taught === 'function'
          ? taught(chains, run)
          : (random: Random) => chains.draw(random, random.pick(taught))
      const steps = run.budget['warm'] ?? 100
      return fineTuneOnSolutions(model, draw, { steps, learningRate: 0.006, seed: run.seed })
    },
    async test(model, run) {
      if (typeof tested === 'function') return tested(model, chainsOf(run), run)
      const questions = chainsOf(run).test(96, tested)
      return (await examine(model, questions, { maxTokens: places + 2, samples: 4 })).accuracy
    },
  })
  return (run: R, learn: (model: TextModel, chains: Chains) => Promise<unknown>): Promise<number> =>
    gain(run, (model) => learn(model, chainsOf(run)))
}
