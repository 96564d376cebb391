import { valueLoss } from '../../algorithm/advantages/critics.ts'
import { AgogeError } from '../../../error.ts'
import { mean } from '../../../statistics/statistics.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import type { OptimiserSettings } from '../kernel.ts'
import { runTraining, settingsOf, stepsOf, validationOf } from '../run.ts'
import type { RunOptions, ValidationOptions } from '../run.ts'
import { creditTokens, explainedVariance, placesOf } from './token-advantages.ts'
import type { CreditedRow, JudgedRow, RewardedRow } from './token-advantages.ts'

export interface TokenPpoOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  policy: ModelBackend
  /** A transformer of its own: `createScalarModel({ config, parameters })` begins as the policy with values of zero. */
  critic: ScalarModel
  /** How the critic learns; default: as the policy. */
  criticOptimiser?: OptimiserSettings
  steps: number
  /** Lets the policy speak and scores it; see `answerSequence`, or `linearise` for episodes in an environment. */
  collect: (step: number) => Promise<RewardedRow[]>
  /** Default 1: what is said last counts as much. */
  gamma?: number
  /** Default 0.95. */
  lambda?: number
  /** Passes over the samples of a step; default 2. */
  epochs?: number
  /** Default 0.2, and 0.2 for the critic. */
  clipLow?: number
  clipHigh?: number
  valueClip?: number
  /** Frozen; with `klCoefficient` above 0 every token costs that much a nat of log policy - log reference. */
  reference?: Pick<ModelBackend, 'forward'>
  klCoefficient?: number
  /** Steps at the beginning in which the critic alone learns; default 0. */
  criticWarmup?: number
  onStep?: (step: TokenPpoStep) => void
}

export interface TokenPpoStep {
  /** From 1. */
  step: number
  /** Mean over rows that were judged. */
  reward: number
  /** Mean over tokens of log policy - log reference where there is one. */
  kl: number
  /** Before the update: half the mean squared error, and 1 - variance of the error / variance of the returns. */
  valueLoss: number
  explainedVariance: number
  clipFraction: number
  /** undefined where the policy's backend does not tell, or did not move. */
  gradientNorm: number | undefined
  learningRate: number
}

/**
 * PPO with a critic for language models: each token is an action, its state what stands before it. The reward comes after the last
 * token; advantages are GAE(gamma, lambda) over tokens, normalised over the batch; policy and critic are clipped. A row that was cut
 * off has ended too: the limit is part of the task.
 *
 * Sources: PPO (arXiv 1707.06347); for language models InstructGPT (arXiv 2203.02155) and TRL's PPO.
 */
export async function trainTokenPpo(options: TokenPpoOptions): Promise<TokenPpoStep[]> {
  const { policy, critic, steps, collect, reference, epochs = 2, criticWarmup = 0, signal } = options
  const { klCoefficient = 0, clipLow = 0.2, clipHigh = 0.2, criticOptimiser = options } = options
  if (klCoefficient > 0 && reference === undefined)
    throw new AgogeError('A cost of divergence needs something to diverge from', {
      code: 'bad-config',
      given: { klCoefficient },
      expected: 'a reference: the checkpoint that the policy began with, opened a second time',
    })
  const abort = signal === undefined ? {} : { signal }
  const { records } = await runTraining<JudgedRow[]>(
    {
      name: 'token-ppo',
      steps,
      async collect(step) {
        const collected = await collect(step)
        const batch = collected.filter(
          (row): row is JudgedRow => row.reward !== null && placesOf(row.sequence).length > 0,
        )
        if (batch.length === 0) throw nothingJudged(step, collected)
        return batch
      },
      async update(batch, tools) {
        const sequences = batch.map(({ sequence }) => sequence)
        const values = await critic.values(
          sequences.map(({ tokens }) => tokens),
          abort,
        )
        const references = klCoefficient > 0 ? await scoreSequences(reference!, sequences, abort) : undefined
        const advantage = creditTokens(batch, values, { ...options, ...(references && { references }) })
        const optimStep = tools.schedule(options)
        const learned = { clipFraction: 0, gradientNorm: undefined as number | undefined, valueLoss: 0 }
        for (let epoch = 0; epoch < epochs; epoch++) {
          const loss = await learnValues(critic, advantage, options)
          if (epoch === 0) learned.valueLoss = loss
          await tools.move(critic, tools.schedule(criticOptimiser))
          if (tools.step < criticWarmup) continue
          const update = {
            sequences: advantage.map(({ sequence }) => sequence),
            loss: { name: 'ppo', clipLow, clipHigh } as const,
          }
          const report = await tools.apply(policy, update, optimStep)
          learned.clipFraction = report.clipFraction
          learned.gradientNorm = report.gradientNorm
        }
        const metrics = {
          reward: mean(batch.map(({ reward }) => reward)),
          kl: sum(advantage, ({ kl }) => kl) / sum(advantage, ({ states }) => states.length),
          explainedVariance: explainedVariance(advantage),
          ...learned,
          learningRate: optimStep.learningRate,
        }
        options.onStep?.({ step: tools.step + 1, ...metrics })
        return metrics
      },
      validation: validationOf(options),
    },
    { ...options, models: { policy, critic }, settings: settingsOf(options) },
  )
  return stepsOf<TokenPpoStep>(records, 'token-ppo')
}

function nothingJudged(step: number, { length }: readonly RewardedRow[]): AgogeError {
  return new AgogeError('Nothing that the policy said could be judged', {
    code: 'no-samples',
    given: { step, rows: length },
    expected: 'rows with a reward, and an rl weight above 0 at the tokens that the policy chose',
  })
}

/** Adds the gradient of the critic's loss, a mean over tokens; returns that loss. */
async function learnValues(
  critic: ScalarModel,
  advantage: readonly CreditedRow[],
  { valueClip = 0.2, signal }: { valueClip?: number; signal?: AbortSignal },
): Promise<number> {
  const abort = signal === undefined ? {} : { signal }
  const rows = advantage.map(({ sequence }) => sequence.tokens)
  const now = await critic.values(rows, abort)
  const tokens = sum(advantage, ({ states }) => states.length)
  let total = 0
  const gradients = advantage.map(({ sequence, states, values, returns }, i) => {
    const { value, gradient } = valueLoss(
      {
        values: states.map((t) => now[i][t]),
        returns,
        oldValues: values,
        weights: new Float32Array(states.length).fill(1 / tokens),
      },
      { clip: valueClip },
    )
    total += value
    const row = new Float32Array(sequence.tokens.length)
    states.forEach((t, k) => (row[t] = gradient[k]))
    return row
  })
  await critic.backward(rows, gradients, abort)
  return total
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
