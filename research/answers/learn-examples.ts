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

/** An answer and what is to be learnt from it. */
export interface Example extends Pick<SampledAnswer, 'prompt' | 'tokens'> {
  /** Under whoever sampled them; of imitation nothing is needed. */
  logprobs?: ArrayLike<number>
  /** What they were drawn at; default 1. What is cloned alone is cloned at 1. */
  temperature?: number
  /** Of reinforcement: of the answer, or of each of its tokens. 0 counts in the normaliser alone. */
  advantage?: number | ArrayLike<number>
  /** Weight of imitation, beside the other examples that are cloned. */
  imitation?: number
}

export interface LearnSettings {
  learningRate: number
  /** Default: the clipped surrogate, 0.2 either way. */
  loss?: LossSettings | CustomLoss
  /** How tokens of reinforced answers are averaged; default: each counts the same. */
  aggregation?: Aggregation
  /** Of the gradient's norm; default 1. */
  clip?: number
  /** Optimiser's steps on the same lessons; default 1. */
  passes?: number
}

/** What the last of the passes said. */
export type ExampleReport = CustomLossReport & OptimReport

/**
 * A step of learning, or some: the loss over the reinforced answers plus the mean cross-entropy of cloned tokens, each times its
 * weight.
 */
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

/** The rows for the trainer; those that cannot move anything are left out. */
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
