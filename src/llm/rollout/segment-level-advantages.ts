import { cutSegments, segmentAdvantages, spreadOverTokens } from '../algorithm/advantages/critics.ts'
import type { ModelBackend, SampleOptions } from '../model-backend.ts'
import type { SampledAnswer, Scorer } from './sample-answers.ts'

export interface SegmentSettings extends Omit<SampleOptions, 'temperature'> {
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
      ...(probability === undefined ? {} : { probability }),
      ...(decisions === undefined ? {} : { decisions }),
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
