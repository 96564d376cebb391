import { tokenWeights } from 'agoge/losses'
import type { Aggregation } from 'agoge/losses'
import type {
  TrainingSequence,
  CustomLoss,
  CustomLossReport,
  LossSettings,
  OptimReport,
  SampledAnswer,
} from 'agoge/llm'
import { answerSequence, applyUpdate } from 'agoge/llm'
import type { TextModel } from './text-model.ts'

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

export interface LearnSettings {
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
export type ExampleReport = CustomLossReport & OptimReport

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
