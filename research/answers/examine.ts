import { mean } from 'agoge/statistics'
import { attempt } from './attempts.ts'
import type { Attempt, Question } from './attempts.ts'
import { metricsOf } from './reinforce-answers.ts'
import type { TextModel } from './text-model.ts'

export interface Examination {
  /** Mean reward of an answer. */
  accuracy: number
  /** Share of the questions to which some answer had a reward of 1: pass@k with all k samples. */
  solved: number
  /** Nats a token, and tokens an answer. */
  entropy: number
  length: number
  groups: Attempt[][]
}

/** The model's answers to questions that stay the same, `samples` (default 1) to each, at temperature 1 unless told. */
export async function examine(
  model: TextModel,
  questions: readonly Question[],
  settings: { maxTokens: number; samples?: number; temperature?: number },
): Promise<Examination> {
  const { maxTokens, samples = 1, temperature = 1 } = settings
  const asked = { name: 'examine', seed: 0, maxTokens, temperature, groupSize: samples }
  const groups = await attempt(model, questions, asked)
  const { reward, ...metrics } = metricsOf(groups.flat())
  const solved = mean(groups.map((group) => Number(group.some((member) => member.reward >= 1))))
  return { accuracy: reward, solved, ...metrics, groups }
}
