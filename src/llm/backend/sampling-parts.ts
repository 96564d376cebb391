import type { SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import { allParts } from './threads.ts'
import type { Helper } from './threads.ts'

/** Samples some rows of a call; `onToken` speaks of their places among these. */
export type SamplePart = (
  part: number,
  requests: readonly SampleRequest[],
  options: SampleOptions,
) => Promise<SampleOutput[]>

/** Samples the rows of a call in several parts at the same time; `parts` has the part, 0 to count - 1, of each row. */
export async function sampleInParts(
  requests: readonly SampleRequest[],
  options: SampleOptions,
  parts: readonly number[],
  samplePart: SamplePart,
): Promise<SampleOutput[]> {
  const results: SampleOutput[] = []
  const { onToken } = options
  const sampleOne = async (part: number): Promise<void> => {
    const rows = requests.flatMap((_, i) => (parts[i] === part ? [i] : []))
    const listener: SampleOptions['onToken'] = (row, token, logprob) => onToken?.(rows[row], token, logprob)
    const outputs = await samplePart(
      part,
      rows.map((row) => requests[row]),
      { ...options, ...(onToken && { onToken: listener }) },
    )
    rows.forEach((row, i) => (results[row] = outputs[i]))
  }
  await allParts([...new Set(parts)].sort((a, b) => a - b).map(sampleOne))
  return results
}

/** Lets a thread sample rows. */
export function askToSample(
  helper: Helper,
  requests: readonly SampleRequest[],
  { signal, onToken, ...options }: SampleOptions,
  { weightVersion, together }: { weightVersion: number; together: boolean },
): Promise<SampleOutput[]> {
  // Copied, since a message carries the whole buffer that a view is of.
  const copies = requests.map((request) => ({ ...request, prompt: request.prompt.slice() }))
  const listening = onToken !== undefined
  return helper.ask(
    'sample',
    { requests: copies, options, weightVersion, together, listening },
    signal,
    onToken,
  )
}

/** Adds the log-probabilities of prompts to the outputs of those rows that want them. */
export async function withPromptLogprobs(
  requests: readonly SampleRequest[],
  options: SampleOptions,
  outputs: SampleOutput[],
  forward: (prompts: Int32Array[]) => Promise<Float32Array[]>,
): Promise<SampleOutput[]> {
  const asking = requests.flatMap((request, i) =>
    (request.promptLogprobs ?? options.promptLogprobs) === true ? [i] : [],
  )
  if (asking.length === 0) return outputs
  const logprobs = await forward(asking.map((i) => requests[i].prompt))
  asking.forEach((i, place) => (outputs[i].promptLogprobs = logprobs[place]))
  return outputs
}
