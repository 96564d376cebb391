import { tokenWeights, grpoAdvantages, isUniform } from 'agoge/losses'
import type { Aggregation } from 'agoge/losses'
import { answerSequence, applyUpdate } from 'agoge/llm'
import type {
  TrainingSequence,
  CustomLoss,
  CustomLossReport,
  LossSettings,
  OptimReport,
  SampledAnswer,
} from 'agoge/llm'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { attempt, type Attempt, type AttemptSettings, type Question } from './attempts.ts'
import type { TextModel } from '../testbeds/tiny-transformer/text-model.ts'

/** An answer and how to learn from it. */
export interface Example extends Pick<SampledAnswer, 'prompt' | 'tokens'> {
  /** Log-probabilities under the sampler. Not needed for supervised learning. */
  logprobs?: ArrayLike<number>
  /** Temperature at which the tokens were drawn. Default: 1. Answers that are only cloned use 1. */
  temperature?: number
  /** Advantage for RL: of the answer, or of each of its tokens. 0 counts only in the normaliser. */
  advantage?: number | ArrayLike<number>
  /** Weight of the answer's cross-entropy, relative to other examples. */
  imitation?: number
}

interface LearnSettings {
  learningRate: number
  /** Default: the clipped surrogate with clips of 0.2. */
  loss?: LossSettings | CustomLoss
  /** Aggregation over the tokens of RL answers. Default: token mean. */
  aggregation?: Aggregation
  /** Clip of the gradient norm. Default: 1. */
  clip?: number
  /** Optimiser steps on the same examples. Default: 1. */
  passes?: number
}

/** Report of the last pass. */
type ExampleReport = CustomLossReport & OptimReport

/** One or more optimiser steps on the RL loss plus the mean cross-entropy of cloned tokens, each times its weight. */
export async function learnExamples(
  { backend }: TextModel,
  examples: readonly Example[],
  settings: LearnSettings,
): Promise<ExampleReport> {
  const { learningRate, passes = 1, clip = 1 } = settings
  const { loss = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } } = settings
  const sequences = exampleSequences(examples, settings.aggregation)
  let report: ExampleReport | undefined
  for (let pass = 0; pass < passes || report === undefined; pass++) {
    report = await applyUpdate(backend, { sequences, loss }, { learningRate, clip })
  }
  return report
}

/** The rows for the trainer, without those that have no gradient. */
export function exampleSequences(
  examples: readonly Example[],
  aggregation: Aggregation = { mode: 'token-mean' },
): TrainingSequence[] {
  const lengthIf = (chosen: (example: Example) => boolean): number[] =>
    examples.map((example) => (chosen(example) ? example.tokens.length : 0))
  const reinforced = tokenWeights(
    lengthIf(({ advantage }) => advantage !== undefined),
    aggregation,
  )
  const cloned = tokenWeights(
    lengthIf(({ imitation }) => imitation !== undefined),
    { mode: 'token-mean' },
  )
  return examples.flatMap((example, i) => {
    const {
      prompt,
      tokens,
      logprobs = new Float32Array(tokens.length),
      advantage = 0,
      imitation = 0,
      temperature = 1,
    } = example
    const turnAdvantage = typeof advantage === 'number' ? tokens.map(() => 1) : advantage
    const scale = typeof advantage === 'number' ? advantage : 1
    const row = answerSequence({
      prompt,
      tokens,
      logprobs: Float32Array.from(logprobs),
      temperature: example.advantage === undefined ? 1 : temperature,
    })
    for (let t = 0; t < tokens.length; t++) {
      row.advantages[prompt.length + t] = scale * turnAdvantage[t]
      row.weights.rl[prompt.length + t] = reinforced[i]
      row.weights.ce[prompt.length + t] = imitation * cloned[i]
    }
    return imitation === 0 && row.advantages.every((value) => value === 0) ? [] : [row]
  })
}

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
    const zeroVariance = average(rewards.map((group) => Number(isUniform(group))))
    onStep?.({ step, groups, ...metricsOf(groups.flat()), zeroVariance, ...(report && { report }) })
  }
}

/** Mean reward, entropy in nats per token (estimated from the sampled tokens) and tokens per answer. */
export function metricsOf(attempts: readonly Attempt[]): { reward: number; entropy: number; length: number } {
  const tokens = attempts.reduce((sum, member) => sum + member.tokens.length, 0)
  const surprise = attempts.reduce((sum, { logprobs }) => logprobs.reduce((s, value) => s - value, sum), 0)
  return {
    reward: average(attempts.map(({ reward }) => reward)),
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
  const solved = average(groups.map((group) => Number(group.some((member) => member.reward >= 1))))
  return { accuracy: reward, solved, ...metrics, groups }
}
