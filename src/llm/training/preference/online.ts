import { AgogeError } from '../../../error.ts'
import { average } from '../../../statistics/statistics.ts'
import { onlinePairs } from '../../algorithm/preference/choice.ts'
import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode } from '../../episode/types.ts'
import type { ModelBackend, SampleOptions } from '../../model-backend.ts'
import { sampleAnswers, type SampledAnswer, type Scorer } from '../../rollout/sample-answers.ts'
import type { OptimiserSettings } from '../kernel.ts'
import {
  type RunOptions,
  runTraining,
  settingsOf,
  stepsOf,
  validationOf,
  type ValidationOptions,
} from '../run.ts'
import { type Answer, type PreferenceMethod, type PreferencePair, readSums } from './answers.ts'
import { learnPreferences, type ReadExample, type ScheduleStep } from './train-preferences.ts'

/** Pairs just sampled from the policy, with their scores. */
interface FreshPairs {
  pairs: PreferencePair[]
  /** Mean score of all judged answers. */
  reward: number
}

interface OnlineOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  backend: ModelBackend
  method: PreferenceMethod<PreferencePair>
  /** Frozen; required if the method uses a reference. */
  reference?: Pick<ModelBackend, 'forward'>
  steps: number
  /** Samples from the policy and makes pairs: `judgedPairs` for prompts, `episodePairs` for episodes in an environment. */
  collect: (step: number) => Promise<FreshPairs>
  onStep?: (step: OnlineStep) => void
}

/**
 * `loss` and the following fields describe the pairs before the update. They are 0 if no answers differed; then there is no
 * update.
 */
interface OnlineStep extends ScheduleStep {
  reward: number
  pairs: number
}

/**
 * Preference learning on new samples of the policy: sample, judge, pair, update (online DPO with `dpo()`).
 *
 * Source: arXiv 2402.04792.
 */
export async function trainOnline(options: OnlineOptions): Promise<OnlineStep[]> {
  const { backend, method, reference, steps, collect, signal } = options
  if (method.usesReference && reference === undefined)
    throw new AgogeError(`${method.name} needs a reference policy`, {
      code: 'bad-config',
      given: reference,
      expected: 'a frozen model',
      hint: 'open the initial checkpoint of the policy a second time, or use simpo() or orpo()',
    })
  const abort = signal === undefined ? {} : { signal }
  const { records } = await runTraining<FreshPairs>(
    {
      name: `online-${method.name}`,
      steps,
      collect,
      async update({ pairs, reward }, tools) {
        const optimStep = tools.schedule(options)
        let learned = { loss: 0, margin: 0, accuracy: 0, gradientNorm: undefined as number | undefined }
        if (pairs.length > 0) {
          const batch = await readExamples(method, pairs, reference, abort)
          const metrics = await learnPreferences(backend, method, batch, abort)
          learned = { ...metrics, ...(await tools.move(backend, optimStep)) }
        }
        const { learningRate } = optimStep
        const metrics = { reward, pairs: pairs.length, ...learned, learningRate }
        options.onStep?.({ step: tools.step + 1, ...metrics })
        return metrics
      },
      validation: validationOf(options),
    },
    { ...options, models: { model: backend }, settings: { ...settingsOf(options), method: method.name } },
  )
  return stepsOf<OnlineStep>(records, `online-${method.name}`)
}

/** New pairs with the reference's log-probabilities of their answers; zeros if the method has no reference. */
async function readExamples(
  method: PreferenceMethod<PreferencePair>,
  pairs: readonly PreferencePair[],
  reference: Pick<ModelBackend, 'forward'> | undefined,
  abort: { signal?: AbortSignal },
): Promise<ReadExample<PreferencePair>[]> {
  const answers = method.answers(pairs)
  const flat = answers.flat()
  const sums =
    method.usesReference && reference !== undefined
      ? await readSums(reference, flat, abort)
      : new Float64Array(flat.length)
  const each = answers[0].length
  return pairs.map((example, i) => ({
    example,
    answers: answers[i],
    reference: sums.subarray(i * each, (i + 1) * each),
  }))
}

/** Samples groups of answers to prompts, judges and pairs them. Use it as `collect` of `trainOnline` without an environment. */
export async function judgedPairs(
  backend: Pick<ModelBackend, 'sample'>,
  prompts: readonly Int32Array[],
  settings: Omit<SampleOptions, 'temperature'> & {
    /** Keys the random streams. Must include the step. */
    name: string
    score: Scorer<SampledAnswer>
    /** Default: 2. */
    groupSize?: number
    temperature?: number
    /** As in `onlinePairs`. */
    pairing?: 'extremes' | 'all'
    margin?: number
  },
): Promise<FreshPairs> {
  const { score, groupSize = 2, pairing = 'extremes', margin = 0, ...sampling } = settings
  const groups = await sampleAnswers(backend, prompts, { ...sampling, groupSize })
  const rewards = await score(groups.flat())
  const pairs = groups.flatMap((group, g) =>
    onlinePairs(rewards.slice(g * groupSize, (g + 1) * groupSize), { pairing, margin }).map(
      ({ chosen, rejected }) => ({
        prompt: prompts[g],
        chosen: group[chosen].tokens,
        rejected: group[rejected].tokens,
      }),
    ),
  )
  return { pairs, reward: average(rewards.filter((reward) => reward !== null)) }
}

/**
 * An episode as one answer. The prompt is everything before the policy's first token; later messages of tools and users have
 * weight 0. `null` for masked episodes, and for episodes that take more than one row.
 */
export function episodeAnswer(episode: Episode): Answer | null {
  const rows = toTrainingSequences(episode, () => ({ advantage: 0, weights: { ce: 1 } }))
  if (rows.length !== 1) return null
  const [{ tokens, weights }] = rows
  const start = weights.ce.indexOf(1)
  return { prompt: tokens.slice(0, start), tokens: tokens.slice(start), weights: weights.ce.slice(start) }
}

/**
 * Pairs among episodes of one task, by reward: the best against the worst, or all that differ (`onlinePairs`). Masked episodes
 * and unjudged ones (`null`) are left out.
 */
export function episodePairs(
  episodes: readonly Episode[],
  rewards: readonly (number | null)[],
  settings: Parameters<typeof onlinePairs>[1] = {},
): PreferencePair[] {
  const answers = episodes.map(episodeAnswer)
  const judged = rewards.map((reward, i) => (answers[i] === null ? null : reward))
  return onlinePairs(judged, settings).map(({ chosen, rejected }) => {
    const [good, bad] = [answers[chosen]!, answers[rejected]!]
    const weights = { chosen: good.weights!, rejected: bad.weights! }
    return { prompt: good.prompt, chosen: good.tokens, rejected: bad.tokens, weights }
  })
}
