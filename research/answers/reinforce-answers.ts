import { createRandom, type Random } from 'agoge/engine'
import { grpoAdvantages, isUniform } from 'agoge/losses'
import { mean } from 'agoge/statistics'
import { attempt, type Attempt, type AttemptSettings, type Question } from './attempts.ts'
import { type Example, type ExampleReport, learnExamples, type LearnSettings } from './learn-examples.ts'
import type { TextModel } from './text-model.ts'

interface AnswerStep<Q extends Question = Question> {
  /** From 0. */
  step: number
  groups: Attempt<Q>[][]
  /** Means over the sampled answers: reward, entropy in nats per token, tokens. */
  reward: number
  entropy: number
  length: number
  /** Share of zero-variance groups. */
  zeroVariance: number
  report?: ExampleReport
}

export interface ReinforceSettings<Q extends Question> extends LearnSettings {
  steps: number
  seed: number
  /** Questions per step. Default: 8. */
  batch?: number
  /** Answers per question. Default: 8. */
  groupSize?: number
  maxTokens: number
  temperature?: number
  /** Replaces the sampling of answers. */
  sample?: (
    questions: readonly Q[],
    settings: AttemptSettings & { groupSize: number },
    step: number,
  ) => Promise<Attempt<Q>[][]>
  /** Advantages of the members of all groups. Default: GRPO. */
  advantages?: (rewards: number[][], groups: readonly Attempt<Q>[][]) => (number | ArrayLike<number>)[][]
  /** Examples to learn from. Default: the answers with their advantages. */
  examples?: (
    examples: Example[],
    groups: readonly Attempt<Q>[][],
    step: number,
  ) => Example[] | Promise<Example[]>
  onStep?: (step: AnswerStep<Q>) => void
}

/** Group-relative RL on questions drawn anew for each step. Every part can be replaced. */
export async function reinforceAnswers<Q extends Question>(
  model: TextModel,
  question: (random: Random, step: number) => Q,
  settings: ReinforceSettings<Q>,
): Promise<void> {
  const { steps, seed, batch = 8, groupSize = 8, maxTokens, temperature = 1, onStep } = settings
  const { sample = (questions, given) => attempt(model, questions, given) } = settings
  const { advantages = (rewards) => rewards.map((group) => grpoAdvantages(group)) } = settings
  const random = createRandom(seed, 'reinforce-answers')
  for (let step = 0; step < steps; step++) {
    const questions = Array.from({ length: batch }, () => question(random, step))
    const given = { name: `reinforce/${step}`, seed, groupSize, maxTokens, temperature }
    const groups = await sample(questions, given, step)
    const rewards = groups.map((group) => group.map(({ reward }) => reward))
    const turnAdvantages = advantages(rewards, groups)
    const plain = groups.flatMap((group, g) =>
      group.map((member, m): Example => ({ ...member, advantage: turnAdvantages[g][m] })),
    )
    const examples = settings.examples === undefined ? plain : await settings.examples(plain, groups, step)
    const moving = examples.some(({ advantage = 0, imitation = 0 }) => advantage !== 0 || imitation !== 0)
    const report = moving ? await learnExamples(model, examples, settings) : undefined
    const zeroVariance = mean(rewards.map((group) => Number(isUniform(group))))
    onStep?.({ step, groups, ...metricsOf(groups.flat()), zeroVariance, ...(report && { report }) })
  }
}

/** Mean reward, entropy in nats per token (estimated from the sampled tokens) and tokens per answer. */
export function metricsOf(attempts: readonly Attempt[]): { reward: number; entropy: number; length: number } {
  const tokens = attempts.reduce((sum, member) => sum + member.tokens.length, 0)
  const surprise = attempts.reduce((sum, { logprobs }) => logprobs.reduce((s, value) => s - value, sum), 0)
  return {
    reward: mean(attempts.map(({ reward }) => reward)),
    entropy: surprise / Math.max(1, tokens),
    length: tokens / Math.max(1, attempts.length),
  }
}

interface Examination {
  /** Mean reward of an answer. */
  accuracy: number
  /** Share of the questions with at least one answer of reward 1: pass@k with all k samples. */
  solved: number
  /** Entropy in nats per token, and tokens per answer. */
  entropy: number
  length: number
  groups: Attempt[][]
}

/** The model's answers to fixed questions, `samples` (default: 1) per question. Default temperature: 1. */
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
