import { distillationAdvantages } from '../../algorithm/losses/imitation.ts'
import { tokenWeights } from '../../algorithm/losses/tokens.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { EpisodeLimits } from '../../agent/episode-state.ts'
import type { Task, TaskSource, ToolEnvironment } from '../../agent/types.ts'
import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { AgogeError } from '../../../error.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { openActor, rolloutGroups } from '../../rollout/collect.ts'
import type { ActorOptions } from '../../rollout/collect.ts'
import type { OptimiserSettings } from '../kernel.ts'
import { runTraining, settingsOf, stepsOf, validationOf } from '../run.ts'
import type { RunOptions, ValidationOptions } from '../run.ts'

export interface DistillationOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  student: ModelBackend
  /** Scores the student's tokens, so it must have the same vocabulary. */
  teacher: Pick<ModelBackend, 'forward'>
  steps: number
  /**
   * New samples of the student, with an rl weight above 0 on trained tokens: `episodeRows` for an environment, or
   * `answerSequence` of `sampleAnswers`.
   */
  collect: (step: number) => Promise<TrainingSequence[]>
  /** Discount of later tokens' rewards, 0 to 1. Default: 0, each token is judged by itself. */
  discount?: number
  /** Updates on the same samples. From the second on, the importance ratio corrects. Default: 1. */
  epochs?: number
  onStep?: (step: DistillationStep) => void
}

export interface DistillationStep {
  /** Starts at 1. */
  step: number
  /** Mean over the student's tokens of log student - log teacher, in nats: an estimate of KL(student || teacher) per token. */
  reverseKl: number
  tokens: number
  /** undefined if the student's backend does not report it. */
  gradientNorm: number | undefined
  learningRate: number
}

/**
 * On-policy distillation. The student samples; the teacher gives its log-probability of the same tokens. The advantage of a
 * token is log teacher - log student, minus the mean of the batch as a baseline. Needs only log-probabilities of tokens, so the
 * teacher can be any backend.
 *
 * Sources: "On-Policy Distillation" (Thinking Machines, 2025); MiniLLM (arXiv 2306.08543) with a discount; exact over whole
 * distributions: GKD (arXiv 2306.13649), `distillationLoss`.
 *
 * @example
 * await distil({ student, teacher, steps: 50, learningRate: 1e-3, collect: async (step) =>
 *   (await sampleAnswers(student, prompts, { name: `${step}`, maxTokens: 32, stop, seed: 0 })).flat().map(answerSequence) })
 */
export async function distil(options: DistillationOptions): Promise<DistillationStep[]> {
  const { student, teacher, steps, collect, discount = 0, epochs = 1, signal } = options
  const abort = signal === undefined ? {} : { signal }
  const { records } = await runTraining<{ rows: TrainingSequence[]; tokens: number; reverseKl: number }>(
    {
      name: 'distil',
      steps,
      async collect(step) {
        const rows = await collect(step)
        const taught = await teachRows(teacher, rows, { discount, ...abort })
        if (taught.tokens === 0) throw nothingSaid(step, rows)
        return taught
      },
      async update({ rows: sequences, tokens, reverseKl }, tools) {
        const optimStep = tools.schedule(options)
        const loss = { name: 'importance_sampling' } as const
        let gradientNorm: number | undefined
        for (let epoch = 0; epoch < epochs; epoch++)
          gradientNorm = (await tools.apply(student, { sequences, loss }, optimStep)).gradientNorm
        const metrics = { reverseKl, tokens, gradientNorm, learningRate: optimStep.learningRate }
        options.onStep?.({ step: tools.step + 1, ...metrics })
        return metrics
      },
      validation: validationOf(options),
    },
    { ...options, models: { model: student }, settings: settingsOf(options) },
  )
  return stepsOf<DistillationStep>(records, 'distil')
}

/** The student's rows with advantages from the teacher, and their divergence per token. */
export async function teachRows(
  teacher: Pick<ModelBackend, 'forward'>,
  rows: readonly TrainingSequence[],
  { discount = 0, ...abort }: { discount?: number; signal?: AbortSignal } = {},
): Promise<{ rows: TrainingSequence[]; tokens: number; reverseKl: number }> {
  const lengths = rows.map((row) => row.weights.rl.filter((weight) => weight !== 0).length)
  const tokens = lengths.reduce((sum, length) => sum + length, 0)
  if (tokens === 0) return { rows: [], tokens, reverseKl: 0 }
  const read = await scoreSequences(teacher, rows, abort)
  const weights = tokenWeights(lengths, { mode: 'token-mean' })
  const taught = rows.map((row, i) => teach(row, read[i], weights[i], discount))
  centre(taught.map(({ sequence }) => sequence))
  return {
    rows: taught.map(({ sequence }) => sequence),
    tokens,
    reverseKl: taught.reduce((sum, { divergence }) => sum + divergence, 0) / tokens,
  }
}

function nothingSaid(step: number, { length }: readonly TrainingSequence[]): AgogeError {
  return new AgogeError('The student has no sample to learn from', {
    code: 'no-samples',
    given: { step, rows: length },
    expected: 'rows with an rl weight above 0 at the tokens that the student chose',
  })
}

export interface EpisodeRowsOptions<T extends Task> extends ActorOptions {
  backend: ModelBackend
  environment: ToolEnvironment<T>
  tasks: TaskSource<T>
  /** Tasks per step, and episodes per task. Default: 1 episode. */
  groups: number
  groupSize?: number
  limits: EpisodeLimits
  maxTokensPerTurn: number
  /** Default: 1. */
  temperature?: number
  /** Default: 0. */
  seed?: number
  signal?: AbortSignal
}

/**
 * Samples the student in an environment, for `collect` of `distil`. Each step plays other training tasks. Works with any actor
 * and checkpoint, and trains the tokens it chose. Masked episodes are left out.
 *
 * @example
 * const collect = episodeRows({ backend: student, tokenizer, environment, tasks, groups: 16, limits, maxTokensPerTurn: 72 })
 * await distil({ student, teacher, steps: 50, learningRate: 1e-3, collect })
 */
export function episodeRows<T extends Task>(
  options: EpisodeRowsOptions<T>,
): (step: number) => Promise<TrainingSequence[]> {
  const { backend, environment, tasks, groups, groupSize = 1, limits } = options
  const { maxTokensPerTurn, temperature = 1, seed = 0, signal } = options
  return async (step) => {
    const random = createRandom(seed, 'distil', step)
    const drawn = Array.from({ length: groups }, () =>
      tasks.task({ split: 'train', seed: random.int(2 ** 31) }),
    )
    const actor = openActor(backend, options, { temperature, seed, maxTokensPerTurn })
    const abort = signal === undefined ? {} : { signal }
    const play = { name: `distil/${step}`, tasks: drawn, groupSize, actor, environment, limits, ...abort }
    const episodes = (await rolloutGroups(play)).flat().filter(({ status }) => status !== 'masked')
    return episodes.flatMap((episode) =>
      toTrainingSequences(episode, () => ({ advantage: 0, weights: { rl: 1 } })),
    )
  }
}

/** The row with advantages from the teacher, and the sum over its tokens of log student - log teacher. */
function teach(row: TrainingSequence, teacher: Float32Array, weight: number, discount: number) {
  const places = Array.from(row.tokens.keys()).filter((t) => row.weights.rl[t] !== 0)
  const samplerLogprobs = places.map((t) => row.logprobs[t])
  const teacherLogprobs = places.map((t) => teacher[t])
  const values = distillationAdvantages({ samplerLogprobs, teacherLogprobs }, { discount })
  const advantages = new Float32Array(row.tokens.length)
  const rl = new Float32Array(row.tokens.length)
  for (const [i, t] of places.entries()) {
    advantages[t] = values[i]
    rl[t] = weight
  }
  const divergence = places.reduce((sum, _, i) => sum + samplerLogprobs[i] - teacherLogprobs[i], 0)
  return { sequence: { ...row, advantages, weights: { ...row.weights, rl } }, divergence }
}

/** Subtracts the mean advantage of the trained tokens from each. */
function centre(rows: readonly TrainingSequence[]): void {
  let total = 0
  for (const { advantages, weights } of rows)
    advantages.forEach((value, t) => (total += weights.rl[t] * value))
  for (const { advantages, weights } of rows)
    advantages.forEach((value, t) => (advantages[t] = weights.rl[t] === 0 ? 0 : value - total))
}
