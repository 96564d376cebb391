import { mean } from '../../evaluation/index.ts'
import { createRandom } from '../../random/index.ts'
import type { Random } from '../../random/index.ts'
import type { Question } from './attempts.ts'
import { learnLessons } from './learn-lessons.ts'
import type { Lesson } from './learn-lessons.ts'
import type { TextModel } from './text-model.ts'

/** The solution to a question, to be imitated. */
export function solutionLesson({ symbols }: TextModel, { prompt, solution }: Question, weight = 1): Lesson {
  const tokens = [...symbols.encode(solution), symbols.end]
  return { prompt: symbols.encode(prompt), tokens: Int32Array.from(tokens), imitation: weight }
}

export interface ImitateSettings {
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
export async function imitateSolutions(
  model: TextModel,
  question: (random: Random) => Question,
  { steps, learningRate, seed, batch = 32 }: ImitateSettings,
): Promise<number> {
  const random = createRandom(seed, 'imitate-solutions')
  const losses: number[] = []
  for (let step = 0; step < steps; step++) {
    const lessons = Array.from({ length: batch }, () => solutionLesson(model, question(random)))
    const rate = learningRate * Math.min(1, (step + 1) / 10)
    losses.push((await learnLessons(model, lessons, { learningRate: rate })).loss)
  }
  return mean(losses.slice(-10))
}
