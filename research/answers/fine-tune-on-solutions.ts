import { mean } from 'agoge/statistics'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import type { Question } from './attempts.ts'
import { learnExamples } from './learn-examples.ts'
import type { Example } from './learn-examples.ts'
import type { TextModel } from './text-model.ts'

/** The solution to a question, to be imitated. */
export function solutionExample({ symbols }: TextModel, { prompt, solution }: Question, weight = 1): Example {
  const tokens = [...symbols.encode(solution), symbols.end]
  return { prompt: symbols.encode(prompt), tokens: Int32Array.from(tokens), imitation: weight }
}

export interface FineTuneSettings {
  steps: number
  learningRate: number
  seed: number
  /** Questions of a step; default 32. */
  batch?: number
}

/**
 * Supervised learning of the solutions to questions that are drawn anew for each step.
 *
 * @returns the mean cross-entropy of the last ten steps, in nats a token.
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
  return mean(losses.slice(-10))
}
