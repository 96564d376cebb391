import { AgogeError } from '../../../error.ts'
import { hash32 } from '../../../engine/random/index.ts'
import type { SampleOptions, SampleOutput, SampleRequest, GenerationSettings } from '../../model-backend.ts'
import { createAnswerReader, type Fields } from './transport.ts'
import { badAnswerError } from './errors.ts'

/** One `asample` request: adjacent rows of a call with the same prompt. */
export interface SampleGroup {
  /** Indices of its rows in the call. */
  rows: number[]
  body: Fields
}

/** Agoge's sampler has more settings than the protocol has fields. */
const unknown = [
  'minP',
  'grammar',
  'topLogprobs',
  'promptLogprobs',
] as const satisfies (keyof GenerationSettings)[]

/**
 * The requests of one call of `sample`. Adjacent rows with the same prompt become samples of one request. Other servers
 * than Agoge's draw them from a seed that is derived from seed and key.
 *
 * @throws AgogeError `unsupported-sampling` for settings that the protocol does not have.
 */
export function sampleGroups(
  requests: readonly SampleRequest[],
  options: SampleOptions,
  { sampler, extended, batch }: { sampler: string; extended: boolean; batch: string },
): SampleGroup[] {
  const groups: { rows: number[]; settings: SampleOptions; signature: string; sampling: string }[] = []
  for (const [row, request] of requests.entries()) {
    const { prompt, key: _, ...own } = request
    const settings = { ...options, ...own }
    const name = unknown.find((each) => settings[each] !== undefined)
    if (name !== undefined) {
      throw new AgogeError(`The Tinker protocol has no field for the sampling setting ${name}.`, {
        code: 'unsupported-sampling',
        given: name,
        expected: 'maxTokens, stop, stopSequences of texts, temperature, seed, topK, topP',
        hint: 'Sample with the local backend where you need it.',
      })
    }
    const last = groups.at(-1)
    const sampling = JSON.stringify([paramsOf(settings), settings.seed])
    const signature = JSON.stringify([Array.from(prompt), sampling])
    if (last?.signature === signature) last.rows.push(row)
    else groups.push({ rows: [row], settings, signature, sampling })
  }
  // The server draws rows of the same settings at once, and waits until all of a batch are there.
  const batches = [...new Set(groups.map(({ sampling }) => sampling))]
  return groups.map((group) => {
    const { rows, settings, sampling } = group
    const members = groups.filter((other) => other.sampling === sampling)
    const [first] = rows
    const seed = extended ? settings.seed : hash32(settings.seed, requests[first].key) >>> 1
    const agoge = {
      keys: rows.map((row) => requests[row].key),
      batch: {
        id: `${batch}.${batches.indexOf(sampling)}`,
        index: members.indexOf(group),
        count: members.length,
      },
    }
    return {
      rows,
      body: {
        type: 'sample',
        sampling_session_id: sampler,
        num_samples: rows.length,
        prompt: { chunks: [{ type: 'encoded_text', tokens: requests[first].prompt }] },
        sampling_params: { ...paramsOf(settings), seed },
        prompt_logprobs: false,
        ...(extended ? { agoge } : {}),
      },
    }
  })
}

function paramsOf({
  maxTokens,
  stop,
  stopSequences = [],
  temperature,
  topK,
  topP,
}: GenerationSettings): Fields {
  const texts = stopSequences.filter((each) => typeof each === 'string')
  if (texts.length < stopSequences.length || (texts.length > 0 && stop.length > 0)) {
    throw new AgogeError('The Tinker protocol stops at token ids or at texts, not at both.', {
      code: 'unsupported-sampling',
      given: { stop, stopSequences },
      expected: 'stop, or stopSequences of texts',
    })
  }
  const ends = texts.length > 0 ? texts : [...stop]
  return {
    max_tokens: maxTokens,
    ...(ends.length === 0 ? {} : { stop: ends }),
    temperature,
    top_k: topK ?? -1,
    top_p: topP ?? 1,
  }
}

/** The samples of one answer, in the order of its rows. */
export function readSamples(
  host: string,
  result: Fields,
  count: number,
  weightVersion: number,
): SampleOutput[] {
  const read = createAnswerReader(host, 'asample')
  const sequences = read.list(result, 'sequences')
  if (sequences.length !== count)
    throw badAnswerError(host, 'asample', `${sequences.length} sequences instead of ${count}`, result)
  return sequences.map((each) => {
    const fields = read.fields(each, 'sequence')
    const tokens = Int32Array.from(read.numbers(fields, 'tokens'))
    const logprobs = Float32Array.from(read.numbers(fields, 'logprobs'))
    if (logprobs.length !== tokens.length)
      throw badAnswerError(host, 'asample', 'another number of log-probabilities than of tokens', fields)
    return { tokens, logprobs, finish: fields['stop_reason'] === 'stop' ? 'stop' : 'length', weightVersion }
  })
}
