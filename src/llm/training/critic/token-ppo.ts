import { AgogeError } from '../../../error.ts'
import { gae } from '../../../returns/advantages.ts'
import { average } from '../../../statistics/statistics.ts'
import { valueLoss } from '../../algorithm/advantages/critics.ts'
import { klRewards } from '../../algorithm/advantages/reward-shaping.ts'
import { tokenWeights } from '../../algorithm/losses/tokens.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { OptimiserSettings } from '../kernel.ts'
import {
  type RunOptions,
  runTraining,
  settingsOf,
  stepsOf,
  validationOf,
  type ValidationOptions,
} from '../run.ts'

/** A row with the policy's tokens (rl weight above 0) and its reward. `null`: could not be judged. */
interface RewardedRow {
  sequence: TrainingSequence
  reward: number | null
}

export interface JudgedRow extends RewardedRow {
  reward: number
}

/** A row with advantages and weights for the policy. `states`: positions of the critic's values, the token before each action. */
interface CreditedRow {
  sequence: TrainingSequence
  states: number[]
  values: Float32Array
  returns: Float32Array
  /** Sum over the tokens of log policy - log reference. */
  kl: number
}

/** GAE over the policy's tokens, row by row. Other tokens in between are not steps. */
export function tokenAdvantages(
  rows: readonly JudgedRow[],
  values: readonly Float32Array[],
  settings: { gamma?: number; lambda?: number; klCoefficient?: number; references?: readonly Float32Array[] },
): CreditedRow[] {
  const { gamma = 1, lambda = 0.95, klCoefficient = 0, references } = settings
  const advantage = rows.map(({ sequence, reward }, i) => {
    const places = placesOf(sequence)
    const states = places.map((t) => t - 1)
    const own = Float32Array.from(states, (t) => values[i][t])
    const logprobs = places.map((t) => sequence.logprobs[t])
    const referenceLogprobs = references === undefined ? logprobs : places.map((t) => references[i][t])
    const last = places.length - 1
    const { advantages, returns } = gae(
      {
        rewards: klRewards({ logprobs, referenceLogprobs, outcome: reward }, { coefficient: klCoefficient }),
        values: own,
        nextValues: own.map((_, t) => (t === last ? 0 : own[t + 1])),
        terminated: own.map((_, t) => Number(t === last)),
        truncated: new Float32Array(own.length),
      },
      { gamma, lambda },
    )
    const kl = logprobs.reduce((sum, logprob, t) => sum + logprob - referenceLogprobs[t], 0)
    return { sequence, places, states, values: own, advantages, returns, kl }
  })
  const all = advantage.flatMap(({ advantages }) => [...advantages])
  const centre = average(all)
  const deviation = Math.sqrt(variance(all))
  const weights = tokenWeights(
    advantage.map(({ places }) => places.length),
    { mode: 'token-mean' },
  )
  return advantage.map(({ sequence, places, advantages, ...rest }, i) => {
    const row = new Float32Array(sequence.tokens.length)
    const rl = new Float32Array(sequence.tokens.length)
    for (const [k, t] of places.entries()) {
      row[t] = (advantages[k] - centre) / (deviation + 1e-8)
      rl[t] = weights[i]
    }
    return { ...rest, sequence: { ...sequence, advantages: row, weights: { ...sequence.weights, rl } } }
  })
}

/** Positions of the policy's tokens. */
function placesOf({ tokens, weights }: TrainingSequence): number[] {
  return Array.from(tokens.keys()).filter((t) => weights.rl[t] !== 0)
}

/** 1 - variance of the error / variance of the returns. 0 if the returns do not vary. */
export function explainedVariance(advantage: readonly CreditedRow[]): number {
  const returns = advantage.flatMap((row) => [...row.returns])
  const errors = advantage.flatMap((row) => Array.from(row.returns, (value, t) => value - row.values[t]))
  const of = variance(returns)
  return of === 0 ? 0 : 1 - variance(errors) / of
}

function variance(values: readonly number[]): number {
  const centre = average(values)
  return average(values.map((value) => (value - centre) ** 2))
}

interface TokenPpoOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  policy: ModelBackend
  /** A separate transformer. `createScalarModel({ config, parameters })` starts with the policy's weights and values of 0. */
  critic: ScalarModel
  /** Optimiser of the critic. Default: that of the policy. */
  criticOptimiser?: OptimiserSettings
  steps: number
  /**
   * Samples from the policy and scores the samples; see `answerSequence`, or `toTrainingSequences` for episodes in an
   * environment.
   */
  collect: (step: number) => Promise<RewardedRow[]>
  /** Discount per token. Default: 1. */
  gamma?: number
  /** Default: 0.95. */
  lambda?: number
  /** Passes over the samples of a step. Default: 2. */
  epochs?: number
  /** Default: 0.2, and 0.2 for the critic. */
  clipLow?: number
  clipHigh?: number
  valueClip?: number
  /** Frozen. With a positive `klCoefficient`, each token's reward is reduced by `klCoefficient * (log policy - log reference)`. */
  reference?: Pick<ModelBackend, 'forward'>
  klCoefficient?: number
  /** Initial steps in which only the critic learns. Default: 0. */
  criticWarmup?: number
  onStep?: (step: TokenPpoStep) => void
}

interface TokenPpoStep {
  /** Starts at 1. */
  step: number
  /** Mean over the judged rows. */
  reward: number
  /** Mean over tokens of log policy - log reference, if there is a reference. */
  kl: number
  /** Before the update: half the mean squared error, and 1 - variance of the error / variance of the returns. */
  valueLoss: number
  explainedVariance: number
  clipFraction: number
  /** undefined if the policy's backend does not report it, or in the warm-up. */
  gradientNorm: number | undefined
  learningRate: number
}

/**
 * PPO with a critic for language models. Each token is an action; its state is the text before it. The reward arrives after the
 * last token. Advantages are GAE(gamma, lambda) over tokens, normalised over the batch. The losses of policy and critic are
 * clipped. A row cut off by a limit counts as terminated, since the limit is part of the task.
 *
 * Sources: PPO (arXiv 1707.06347); for language models InstructGPT (arXiv 2203.02155) and TRL's PPO.
 */
export async function trainTokenPpo(options: TokenPpoOptions): Promise<TokenPpoStep[]> {
  const { policy, critic, steps, collect, reference, epochs = 2, criticWarmup = 0, signal } = options
  const { klCoefficient = 0, clipLow = 0.2, clipHigh = 0.2, criticOptimiser = options } = options
  if (klCoefficient > 0 && reference === undefined)
    throw new AgogeError('A KL penalty needs a reference policy', {
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
        const advantage = tokenAdvantages(batch, values, { ...options, ...(references && { references }) })
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
          reward: average(batch.map(({ reward }) => reward)),
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
  return new AgogeError('No output of the policy could be judged', {
    code: 'no-samples',
    given: { step, rows: length },
    expected: 'rows with a reward, and an rl weight above 0 at the tokens that the policy chose',
  })
}

/** Adds the gradient of the critic's loss, a mean over tokens. Returns that loss. */
export async function learnValues(
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
