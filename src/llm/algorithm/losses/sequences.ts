import { AgogeError } from '../../../error.ts'
import type { SequenceLossInputs } from './types.ts'

/**
 * The range [from, to) of each sequence that has any token that counts, with the number of those and the sum of
 * their log-ratios.
 *
 * @throws AgogeError `shape-mismatch` where `starts` does not begin with 0, falls, or points beyond the tokens.
 */
export function* countedSequences(
  inputs: Pick<SequenceLossInputs, 'logprobs' | 'samplerLogprobs' | 'weights' | 'starts'>,
): Generator<{ from: number; to: number; count: number; logRatio: number }> {
  const { logprobs, samplerLogprobs, weights, starts } = inputs
  checkStarts(starts, logprobs.length)
  for (let s = 0; s < starts.length; s++) {
    const from = starts[s]
    const to = s + 1 < starts.length ? starts[s + 1] : logprobs.length
    let count = 0
    let logRatio = 0
    for (let t = from; t < to; t++) {
      if (weights[t] === 0) continue
      count++
      logRatio += logprobs[t] - samplerLogprobs[t]
    }
    if (count > 0) yield { from, to, count, logRatio }
  }
}

function checkStarts(starts: ArrayLike<number>, length: number): void {
  let last = 0
  for (let s = 0; s < starts.length; s++) {
    if (Number.isInteger(starts[s]) && starts[s] >= last && starts[s] <= length && (s > 0 || starts[s] === 0))
      last = starts[s]
    else throw badStarts(starts, length)
  }
  if (starts.length === 0 && length > 0) throw badStarts(starts, length)
}

function badStarts(starts: ArrayLike<number>, length: number): AgogeError {
  return new AgogeError('The starts of the sequences do not divide the tokens', {
    code: 'shape-mismatch',
    given: { starts: Array.from(starts), tokens: length },
    expected: 'integers from 0, never falling, none above the number of tokens',
  })
}
