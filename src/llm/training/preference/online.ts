import { mean } from '../../../statistics/statistics.ts'
import { onlinePairs } from '../../algorithm/preference/choice.ts'
import { AgogeError } from '../../../error.ts'
import type { ModelBackend, SampleOptions } from '../../model-backend.ts'
import { sampleAnswers } from '../../rollout/sample-answers.ts'
import type { SampledAnswer, Scorer } from '../../rollout/sample-answers.ts'
import type { OptimiserSettings } from '../kernel.ts'
import { runTraining, settingsOf, stepsOf, validationOf } from '../run.ts'
import type { RunOptions, ValidationOptions } from '../run.ts'
import { readSums } from './answer-sums.ts'
import type { ScheduleStep } from './schedule.ts'
import { learnPreferences } from './train-preferences.ts'
import type { ReadExample } from './train-preferences.ts'
import type { PreferenceMethod, PreferencePair } from './types.ts'

/** Pairs that the policy itself just gave, and what they were judged by. */
export interface FreshPairs {
  pairs: PreferencePair[]
  /** Mean over all answers that were judged. */
  reward: number
}

export interface OnlineOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  backend: ModelBackend
  method: PreferenceMethod<PreferencePair>
  /** Frozen; needed where the method uses one. */
  reference?: Pick<ModelBackend, 'forward'>
  steps: number
  /** Lets the policy speak and pairs what it said: `judgedPairs` for prompts, `episodePairs` for episodes in an environment. */
  collect: (step: number) => Promise<FreshPairs>
  onStep?: (step: OnlineStep) => void
}

/** `loss` and what follows are of the pairs before the update; 0 where no answers differed, and nothing was learnt. */
export interface OnlineStep extends ScheduleStep {
  reward: number
  pairs: number
}

/**
 * Preference learning from what the policy says now: sample, judge, pair, update (online DPO with `dpo()`).
 *
 * Source: arXiv 2402.04792.
 */
export async function trainOnline(options: OnlineOptions): Promise<OnlineStep[]> {
  const { backend, method, reference, steps, collect, signal } = options
  if (method.usesReference && reference === undefined)
    throw new AgogeError(`${method.name} learns against a reference`, {
      code: 'bad-config',
      given: reference,
      expected: 'a frozen model',
      hint: 'open the checkpoint that the policy began with a second time, or take simpo() or orpo()',
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

/** Fresh pairs with what the reference gives their answers; zeros where the method has none. */
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

/** Answers to prompts in groups, judged and paired: what `trainOnline` collects where there is no environment. */
export async function judgedPairs(
  backend: Pick<ModelBackend, 'sample'>,
  prompts: readonly Int32Array[],
  settings: Omit<SampleOptions, 'temperature'> & {
    /** Keys the random streams; has the step in it. */
    name: string
    score: Scorer<SampledAnswer>
    /** Default 2. */
    groupSize?: number
    temperature?: number
    /** Of `onlinePairs`. */
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
  return { pairs, reward: mean(rewards.filter((reward) => reward !== null)) }
}
