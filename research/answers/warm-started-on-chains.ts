import type { Random } from 'agoge/engine'
import type { Question } from './attempts.ts'
import { createChains } from './chains.ts'
import type { Chains } from './chains.ts'
import { examine } from './examine.ts'
import { fineTuneOnSolutions } from './fine-tune-on-solutions.ts'
import type { Run } from './remember.ts'
import type { TextModel } from './text-model.ts'
import { warmStarted } from './warm-started.ts'

export interface ChainExperiment<R extends Run> {
  /** The longest question; default 3. */
  places?: number
  /** Characters beside those of chains. */
  symbols?: string
  /** Tokens that prompt and answer may have together; default 32. */
  window?: number
  /** Numbers of steps of the questions it is taught, or what it is taught instead; `budget.warm` updates of 32. */
  taught: readonly number[] | ((chains: Chains, run: R) => (random: Random) => Question)
  /** Numbers of steps of the questions it is tested on, which nobody draws for training, or another test. */
  tested: readonly number[] | ((model: TextModel, chains: Chains, run: R) => Promise<number>)
}

/**
 * `warmStarted` on chains of operations on digits, others for each seed. The score is the accuracy of four answers to each of 96
 * questions of the test split, unless told.
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
