import { defined } from '../../defined.ts'
import { cutSegments, segmentAdvantages, spreadOverTokens } from '../algorithm/advantages/critics.ts'
import { bestOf, expectedBestOf } from '../algorithm/preference/choice.ts'
import type { TrainingSequence } from '../episode/types.ts'
import type { ModelBackend, SampleOptions } from '../model-backend.ts'

/** What a language model said to a prompt, without any environment. */
export interface SampledAnswer {
  prompt: Int32Array
  tokens: Int32Array
  /** One a token, of the distribution it was drawn from. */
  logprobs: Float32Array
  finish: 'stop' | 'length'
  weightVersion: number
  /** What it was drawn at; 1 unless told. */
  temperature?: number
}

/** All items at once to numbers, so that models can batch; `null` = could not be judged. */
export type Scorer<T> = (
  items: readonly T[],
) => readonly (number | null)[] | Promise<readonly (number | null)[]>

/**
 * Answers to prompts, `groupSize` to each. `name` keys the random streams: it must differ between steps and stay the same on a repeat.
 *
 * @returns one array of answers for each prompt, in their order.
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

/** What is learnt from of an answer; the rest may come along. */
type Said = Pick<SampledAnswer, 'prompt' | 'tokens' | 'logprobs'> & Partial<SampledAnswer>

/** An answer as a row for the trainer, at the temperature it was drawn at: what the model said has weight 1, its advantage is 0 as yet. */
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
  // Greedy choice is reported at temperature 1.
  if (temperature === 0 || temperature === 1) return row
  return {
    ...row,
    temperatures: new Float32Array(length).fill(1, 0, prompt.length).fill(temperature, prompt.length),
  }
}

/** With its credit: one advantage for all tokens of the answer or one each, and their weight in a loss of policies. */
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

/** An answer that somebody gave, to be imitated: cross-entropy of `weight` a token, 1 unless told. */
export function imitationSequence(
  { prompt, tokens }: Pick<SampledAnswer, 'prompt' | 'tokens'>,
  { weight = 1 }: { weight?: number } = {},
): TrainingSequence {
  const row = answerSequence({ prompt, tokens, logprobs: new Float32Array(tokens.length) })
  row.weights.rl.fill(0)
  row.weights.ce.fill(weight, prompt.length)
  return row
}

/** Of each group the member of the highest score (`null` where none was judged), and all scores. */
interface BestOfGroups<T> {
  chosen: (T | null)[]
  scores: (number | null)[][]
}

/**
 * Best of n: of each group (answers of `sampleAnswers`, episodes of `rolloutGroups`) the member that a scorer likes best. A
 * reward scores episodes as `async (episodes) => (await scoreGroups(reward, [episodes]))[0]`.
 *
 * Source: WebGPT (arXiv 2112.09332); what it costs in divergence is `bestOfKl(n)`.
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
 * What choosing among 1, 2, ... N would bring, as a mean over groups of N: index n - 1 has the expected outcome of the best of n by
 * score (`expectedBestOf`). Where outcomes are what is really wanted and scores those of a learnt reward, the curve bends where
 * the reward is over-optimised (Gao et al., arXiv 2210.10760).
 *
 * @param outcomes of every member; without them the scores themselves.
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
  /** Keys the random streams: other in each step, the same on a repeat. */
  name: string
  /** What whole answers are worth, those that were sampled and those continued from their segments. */
  score: Scorer<SampledAnswer>
  /** Samples from the beginning of each segment. */
  continuations: number
  /** Where answers are cut: see `cutSegments`. */
  probability?: number
  decisions?: number
  /** Default 1. */
  temperature?: number
}

/**
 * Credit by segments of answers, without a critic: the policy goes on from the beginning of each segment several times, the mean of what
 * comes of it is the value there, and a segment is credited with what it changed. Only for answers without an environment, since a
 * conversation with one cannot be taken up in the middle. `creditedSequence` makes rows of it.
 *
 * Sources: VinePPO (arXiv 2410.01679); where to cut: SPO (arXiv 2505.23564).
 *
 * @param settings.maxTokens of a whole answer.
 * @returns one advantage for each token of each answer; `null` where the answer or all that went on from a place could not be judged.
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
