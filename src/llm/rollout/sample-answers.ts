import { defined } from '../../defined.ts'
import { cutSegments, segmentAdvantages, spreadOverTokens } from '../algorithm/advantages/critics.ts'
import { bestOf, expectedBestOf } from '../algorithm/preference/choice.ts'
import type { TrainingSequence } from '../episode/types.ts'
import type { ModelBackend, SampleOptions } from '../model-backend.ts'

/** A model's answer to a prompt, without an environment. */
export interface SampledAnswer {
  prompt: Int32Array
  tokens: Int32Array
  /** One per token, under the distribution it was drawn from. */
  logprobs: Float32Array
  finish: 'stop' | 'length'
  weightVersion: number
  /** The sampling temperature. Default: 1. */
  temperature?: number
}

/** Scores all items in one call, so that models can batch. `null`: could not be judged. */
export type Scorer<T> = (
  items: readonly T[],
) => readonly (number | null)[] | Promise<readonly (number | null)[]>

/**
 * Samples `groupSize` answers to each prompt. `name` keys the random streams: it must differ between steps and stay the same
 * when a step is repeated.
 *
 * @returns one array of answers per prompt, in the order of `prompts`.
 */
export async function sampleAnswers(
  backend: Pick<ModelBackend, 'sample'>,
  prompts: readonly Int32Array[],
  settings: Omit<SampleOptions, 'temperature'> & { name: string; groupSize?: number; temperature?: number },
): Promise<SampledAnswer[][]> {
  const { name, groupSize = 1, temperature = 1, ...options } = settings
  const requests = prompts.flatMap((prompt, at) =>
    Array.from({ length: groupSize }, (_, member) => ({ prompt, key: `${name}/${at}/${member}` })),
  )
  const outputs = await backend.sample(requests, { ...options, temperature })
  const answers = outputs.map((output, i) => ({ ...output, prompt: requests[i].prompt, temperature }))
  return prompts.map((_, at) => answers.slice(at * groupSize, (at + 1) * groupSize))
}

/** The fields of an answer that training needs. Others are ignored. */
type Said = Pick<SampledAnswer, 'prompt' | 'tokens' | 'logprobs'> & Partial<SampledAnswer>

/** An answer as a row for the trainer, at its sampling temperature. The answer's tokens have weight 1 and advantage 0. */
export function answerSequence(answer: Said): TrainingSequence {
  const { prompt, tokens, logprobs, temperature = 1 } = answer
  const length = prompt.length + tokens.length
  const row: TrainingSequence = {
    tokens: new Int32Array(length),
    logprobs: new Float32Array(length),
    advantages: new Float32Array(length),
    weights: { rl: new Float32Array(length), ce: new Float32Array(length), kl: new Float32Array(length) },
  }
  row.tokens.set(prompt)
  row.tokens.set(tokens, prompt.length)
  row.logprobs.set(logprobs, prompt.length)
  row.weights.rl.fill(1, prompt.length)
  // Greedy sampling reports log-probabilities at temperature 1.
  if (temperature === 0 || temperature === 1) return row
  return {
    ...row,
    temperatures: new Float32Array(length).fill(1, 0, prompt.length).fill(temperature, prompt.length),
  }
}

/** The row with an advantage (one for all tokens of the answer, or one per token) and their weight in a policy loss. */
export function creditedSequence(
  answer: Said,
  { advantage, weight }: { advantage: number | ArrayLike<number>; weight: number },
): TrainingSequence {
  const row = answerSequence(answer)
  const start = answer.prompt.length
  row.weights.rl.fill(weight, start)
  if (typeof advantage === 'number') row.advantages.fill(advantage, start)
  else row.advantages.set(advantage, start)
  return row
}

/** A given answer as a row for SFT: cross-entropy with `weight` per token. Default: 1. */
export function imitationSequence(
  { prompt, tokens }: Pick<SampledAnswer, 'prompt' | 'tokens'>,
  { weight = 1 }: { weight?: number } = {},
): TrainingSequence {
  const row = answerSequence({ prompt, tokens, logprobs: new Float32Array(tokens.length) })
  row.weights.rl.fill(0)
  row.weights.ce.fill(weight, prompt.length)
  return row
}

/** For each group, the member with the highest score (`null` if none was judged), and all scores. */
interface BestOfGroups<T> {
  chosen: (T | null)[]
  scores: (number | null)[][]
}

/**
 * Best of n: from each group (answers of `sampleAnswers`, episodes of `rolloutGroups`), returns the member with the highest
 * score. To score episodes with a reward, pass `async (episodes) => (await scoreGroups(reward, [episodes]))[0]`.
 *
 * Source: WebGPT (arXiv 2112.09332). `bestOfKl(n)` gives its KL divergence from the policy.
 */
export async function bestOfGroups<T>(
  groups: readonly (readonly T[])[],
  scorer: Scorer<T>,
): Promise<BestOfGroups<T>> {
  const flat = await scorer(groups.flat())
  let at = 0
  const scores = groups.map((group) => flat.slice(at, (at += group.length)))
  const chosen = groups.map((group, g) => {
    const best = bestOf(scores[g])
    return best === null ? null : group[best]
  })
  return { chosen, scores }
}

/**
 * The expected outcome of best of n for n = 1 to N, averaged over groups of N members. Entry n - 1 is the expected outcome of
 * the best of n by score (`expectedBestOf`). If outcomes measure the true goal and scores come from a learned reward, the curve
 * bends where the reward is over-optimised (Gao et al., arXiv 2210.10760).
 *
 * @param outcomes of every member. Default: the scores.
 */
export function bestOfCurve(
  scores: readonly (readonly number[])[],
  outcomes: readonly (readonly number[])[] = scores,
): number[] {
  const most = Math.min(...scores.map((group) => group.length))
  return Array.from({ length: most }, (_, i) => {
    const each = scores.map((group, g) => expectedBestOf(i + 1, group, outcomes[g]))
    return each.reduce((sum, value) => sum + value, 0) / each.length
  })
}

interface SegmentSettings extends Omit<SampleOptions, 'temperature'> {
  /** Keys the random streams. It must differ between steps and stay the same when a step is repeated. */
  name: string
  /** Scores whole answers, both the sampled ones and the continuations. */
  score: Scorer<SampledAnswer>
  /** Continuations sampled from the beginning of each segment. */
  continuations: number
  /** Where to cut answers; see `cutSegments`. */
  probability?: number
  decisions?: number
  /** Default: 1. */
  temperature?: number
}

/**
 * Advantages per segment of an answer, without a critic. The policy continues several times from the beginning of each segment.
 * The mean score of the continuations is the value there, and the advantage of a segment is the change in value over it. Only
 * for answers without an environment, since an environment cannot be resumed in the middle. `creditedSequence` turns the result
 * into rows.
 *
 * Sources: VinePPO (arXiv 2410.01679); where to cut: SPO (arXiv 2505.23564).
 *
 * @param settings.maxTokens limit of a whole answer.
 * @returns one advantage per token of each answer. `null` if the answer, or every continuation from some position, could not be
 *   judged.
 */
export async function segmentLevelAdvantages(
  policy: Pick<ModelBackend, 'sample'>,
  answers: readonly SampledAnswer[],
  settings: SegmentSettings,
): Promise<(Float32Array | null)[]> {
  const { name, score, continuations, probability, decisions, temperature = 1, ...options } = settings
  const cuts = answers.map(({ logprobs }) =>
    cutSegments(logprobs, {
      ...defined({ probability, decisions }),
    }),
  )
  const asked = answers.flatMap(({ prompt, tokens }, i) =>
    cuts[i].flatMap((start) =>
      Array.from({ length: continuations }, (_, k) => ({
        from: i,
        start,
        request: {
          prompt: Int32Array.of(...prompt, ...tokens.subarray(0, start)),
          key: `${name}/${i}/${start}/${k}`,
          maxTokens: options.maxTokens - start,
        },
      })),
    ),
  )
  const outputs = await policy.sample(
    asked.map(({ request }) => request),
    { ...options, temperature },
  )
  const continued = outputs.map((output, at): SampledAnswer => {
    const { prompt, tokens, logprobs } = answers[asked[at].from]
    const { start } = asked[at]
    return {
      ...output,
      prompt,
      tokens: Int32Array.of(...tokens.subarray(0, start), ...output.tokens),
      logprobs: Float32Array.of(...logprobs.subarray(0, start), ...output.logprobs),
    }
  })
  const scores = await score([...answers, ...continued])
  let at = answers.length
  return answers.map(({ tokens }, i) => {
    const values = cuts[i].map(() => {
      const judged = scores.slice(at, (at += continuations)).filter((value) => value !== null)
      return judged.length === 0 ? null : judged.reduce((sum, value) => sum + value, 0) / judged.length
    })
    const outcome = scores[i]
    if (outcome === null || values.some((value) => value === null)) return null
    return spreadOverTokens(segmentAdvantages(values as number[], outcome), cuts[i], tokens.length)
  })
}
